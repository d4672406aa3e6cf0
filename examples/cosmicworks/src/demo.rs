//! Documents for a first look: a small shop with a history, the same on every run.
//!
//! About 2,000 customers, categories, products and orders, and what happens to them: orders grow and
//! ship, prices and names change, orders are cancelled (soft: `deleted`). Carts come and go for good:
//! hard deletes, which only the audit sees.

pub mod expected;

use fastrand::Rng;
use serde_json::{Value, json};

/// The seed of [`writes`].
pub const SEED: u64 = 0x000C_0511_1C00;

const CATEGORIES: usize = 24;
const PRODUCTS: usize = 340;
const CUSTOMERS: usize = 320;
const ORDERS: usize = 1316;

const KINDS: [&str; 8] = [
    "Touring Bikes",
    "Road Bikes",
    "Mountain Bikes",
    "Frames",
    "Wheels",
    "Helmets",
    "Jerseys",
    "Lights",
];
const COLOURS: [&str; 5] = ["Black", "Blue", "Red", "Silver", "Yellow"];
const NAMES: [&str; 12] = [
    "Ada", "Bela", "Chloe", "Deniz", "Emeka", "Fatima", "Goran", "Hana", "Ines", "Jun", "Karla",
    "Luan",
];

/// One write to a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Creates or replaces a document.
    Upsert {
        /// The collection.
        collection: &'static str,
        /// The document.
        document: Value,
    },
    /// Deletes a document for good.
    Delete {
        /// The collection.
        collection: &'static str,
        /// The document's id.
        id: String,
        /// The value of its partition key.
        partition_key: Value,
    },
}

/// What to show of the read model: titles and queries.
pub const TABLES: &[(&str, &str)] = &[
    (
        "The customers with most revenue",
        "select customer_id, orders, revenue from order_totals
         order by cast(revenue as real) desc, customer_id limit 5",
    ),
    (
        "Products by category",
        "select category_name, count(*) as products from product_names
         group by category_name order by products desc, category_name limit 5",
    ),
    (
        "Changes in the audit log",
        "select operation, count(*) as changes, count(distinct document_id) as documents from audit
         group by operation order by operation",
    ),
];

/// All writes, in order.
pub fn writes() -> impl Iterator<Item = Write> {
    Shop {
        rng: Rng::with_seed(SEED),
        writes: Vec::new(),
    }
    .history()
    .into_iter()
}

struct Shop {
    rng: Rng,
    writes: Vec<Write>,
}

impl Shop {
    fn history(mut self) -> Vec<Write> {
        let mut categories: Vec<Value> = (0..CATEGORIES).map(category).collect();
        let mut products: Vec<Value> = (0..PRODUCTS)
            .map(|number| product(number, &categories[number % CATEGORIES], &mut self.rng))
            .collect();
        let mut customers: Vec<Value> = (0..CUSTOMERS).map(customer).collect();
        // Products before some of their categories: the order must not matter.
        for item in products.iter().chain(&categories) {
            self.upsert("products", item);
        }
        for customer in &customers {
            self.upsert("store", customer);
        }
        let mut open: Vec<Value> = Vec::new();
        for number in 0..ORDERS {
            let order = self.order(number, &products);
            self.upsert("store", &order);
            open.push(order);
            if number % 22 == 0 {
                self.cart(number);
            }
            match self.rng.usize(..20) {
                0 | 1 => self.grow(&mut open, &products),
                2 | 3 => self.ship(&mut open),
                4 => self.cancel(&mut open),
                5 => self.reprice(&mut products),
                6 => self.move_house(&mut customers),
                7 if number % 3 == 0 => self.rename(&mut categories),
                _ => {}
            }
        }
        self.writes
    }

    fn upsert(&mut self, collection: &'static str, document: &Value) {
        self.writes.push(Write::Upsert {
            collection,
            document: document.clone(),
        });
    }

    fn order(&mut self, number: usize, products: &[Value]) -> Value {
        // A few customers order often, and some never.
        let customer = self.rng.usize(..CUSTOMERS).min(self.rng.usize(..CUSTOMERS));
        let lines: Vec<Value> = (0..self.rng.usize(1..6))
            .map(|_| self.line(products))
            .collect();
        json!({
            "id": format!("order-{number:04}"),
            "type": "salesOrder",
            "customerId": customer_id(customer),
            "orderDate": format!("2026-{:02}-{:02}", 1 + number / 120, 1 + number % 28),
            "details": lines,
        })
    }

    fn line(&mut self, products: &[Value]) -> Value {
        let product = &products[self.rng.usize(..products.len())];
        json!({
            "sku": product["sku"],
            "name": product["name"],
            "price": product["price"],
            "quantity": self.rng.i64(1..8),
        })
    }

    /// The customer adds a line.
    fn grow(&mut self, open: &mut [Value], products: &[Value]) {
        let line = self.line(products);
        let order = &mut open[self.rng.usize(..open.len())];
        order["details"]
            .as_array_mut()
            .expect("orders have lines")
            .push(line);
        let order = order.clone();
        self.upsert("store", &order);
    }

    /// An order leaves the house, and changes no more.
    fn ship(&mut self, open: &mut Vec<Value>) {
        let mut order = open.swap_remove(self.rng.usize(..open.len()));
        order["shipDate"] = order["orderDate"].clone();
        self.upsert("store", &order);
    }

    /// An order is cancelled: marked, not removed.
    fn cancel(&mut self, open: &mut Vec<Value>) {
        let mut order = open.swap_remove(self.rng.usize(..open.len()));
        order["deleted"] = true.into();
        self.upsert("store", &order);
    }

    fn reprice(&mut self, products: &mut [Value]) {
        let product = self.rng.usize(..products.len());
        products[product]["price"] = price(&mut self.rng);
        self.upsert("products", &products[product]);
    }

    fn move_house(&mut self, customers: &mut [Value]) {
        let customer = self.rng.usize(..customers.len());
        customers[customer]["city"] = format!("City {}", self.rng.u8(..)).into();
        self.upsert("store", &customers[customer]);
    }

    fn rename(&mut self, categories: &mut [Value]) {
        let number = self.rng.usize(..categories.len());
        let category = &mut categories[number];
        category["name"] = format!("{} (new)", category_name(number)).into();
        let category = category.clone();
        self.upsert("products", &category);
    }

    /// A cart is filled and given up.
    fn cart(&mut self, number: usize) {
        let id = format!("cart-{number:04}");
        let customer = customer_id(self.rng.usize(..CUSTOMERS));
        for items in 1..=self.rng.usize(1..4) {
            self.upsert(
                "store",
                &json!({ "id": id, "type": "cart", "customerId": customer, "items": items }),
            );
        }
        self.writes.push(Write::Delete {
            collection: "store",
            id,
            partition_key: customer.into(),
        });
    }
}

fn category(number: usize) -> Value {
    let id = format!("category-{number:02}");
    json!({ "id": id, "type": "category", "categoryId": id, "name": category_name(number) })
}

fn category_name(number: usize) -> String {
    let (kind, series) = (number % KINDS.len(), number / KINDS.len());
    format!("{} {}", KINDS[kind], 1 + series)
}

fn product(number: usize, category: &Value, rng: &mut Rng) -> Value {
    let colour = COLOURS[rng.usize(..COLOURS.len())];
    json!({
        "id": format!("product-{number:03}"),
        "categoryId": category["id"],
        "categoryName": category["name"],
        "sku": format!("SK-{number:03}"),
        "name": format!("{}, {colour}", category["name"].as_str().expect("categories have names")),
        "price": price(rng),
    })
}

fn customer(number: usize) -> Value {
    json!({
        "id": customer_id(number),
        "type": "customer",
        "customerId": customer_id(number),
        "name": format!("{} {number}", NAMES[number % NAMES.len()]),
        "city": "Metchosin",
    })
}

fn customer_id(number: usize) -> String {
    format!("customer-{number:03}")
}

/// Up to four decimal places: what binary floating point adds up wrongly.
fn price(rng: &mut Rng) -> Value {
    (f64::from(rng.u32(10_000..20_000_000)) / 10_000.0).into()
}

#[cfg(test)]
mod tests;
