//! What names a document and a change: [`DocumentId`], [`PartitionKey`], [`IdempotencyKey`].
