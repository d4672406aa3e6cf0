use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, mut tx: Tx<'_>) -> Result<(), TxError> {
        tx.execute("delete from t where id = $1", (u64::MAX,)).await?;
        Ok(())
    }
}

fn main() {}
