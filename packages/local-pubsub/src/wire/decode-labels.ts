/** Validates labels of topics, subscriptions and snapshots by the rules that Pub/Sub documents. Pure. */
import { LIMITS } from '../model/resources.ts';
import { invalid } from '../model/status.ts';

/** Lowercase letters and letters without case, digits, `_` and `-`; a key begins with a letter. */
const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

/** @throws PubsubError INVALID_ARGUMENT */
export function labelsFrom(
  wire: Readonly<Record<string, string>> | null | undefined,
): Record<string, string> {
  const labels = { ...wire };
  const entries = Object.entries(labels);
  if (entries.length > LIMITS.labels) {
    throw invalid(`A resource has at most ${LIMITS.labels} labels; you passed ${entries.length}.`);
  }
  for (const [key, value] of entries) {
    if (!KEY.test(key)) {
      throw invalid(
        'A label key must be 1 to 63 lowercase letters, digits, underscores and dashes, beginning with a letter.',
      );
    }
    if (!VALUE.test(value)) {
      throw invalid('A label value must be at most 63 lowercase letters, digits, underscores and dashes.');
    }
  }
  return labels;
}
