/** Names of queue tasks, so that the same intent enqueued twice is one task. */
import { sha256Hex } from './hash.ts';

/** A name is never accepted twice for hours; head and due time make sure that no later intent has the same. */
export function taskName(runId: string, head: number, at: number): string {
  return sha256Hex(`${runId}:${head}:${at}`).slice(0, 32);
}
