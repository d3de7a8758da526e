/** The batches for a channel: encoded by themselves if it takes bytes. */
import { EncodedBatch } from './encoded-batch.ts';
import { type CommitChannel, RawBatch, type StoreBatch } from './raw-batch.ts';

export function batchesFor(channel: CommitChannel): () => StoreBatch {
  const { sendBytes } = channel;
  return sendBytes ? () => new EncodedBatch(channel, sendBytes) : () => new RawBatch(channel);
}
