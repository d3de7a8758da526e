/** Names of queue tasks, so that two enqueues for the same reason are one task. */
import { sha256Hex } from './hash.ts';

/**
 * Cloud Tasks refuses a used name for hours after its task has run. Head and due time make the names of later tasks different.
 */
export function taskName(runId: string, head: number, at: number): string {
  return sha256Hex(`${runId}:${head}:${at}`).slice(0, 32);
}
