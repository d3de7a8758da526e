/**
 * The names by which a person may search for a run. A total function of the run's identity. The run document stores them, so that
 * one query finds the run by any of them.
 *
 * Must not: contain a secret or a user's input; every caller of the tenant may find the run.
 */
import { keyAsSent } from '../encoding/idempotency-keys.ts';
import type { RunIdentity } from '../run/events.ts';

/** Kinds of identifiers by which a run is found. */
export const NAMES_OF_RUNS = [
  'run',
  'delivery',
  'idempotency_key',
  'thread',
  'trace',
  'pull_request',
  'tag',
] as const;
export type NameOfRun = (typeof NAMES_OF_RUNS)[number];

/**
 * Longest name that search finds. Firestore indexes up to 1,500 bytes of text, and this many characters of any script
 * fit.
 */
export const MAX_SEARCHED_CHARS = 375;

export type Named = Pick<
  RunIdentity,
  'trigger' | 'idempotencyKey' | 'threadId' | 'traceId' | 'prUrl' | 'tags'
>;

/** The names, each once, in the order of {@link NAMES_OF_RUNS}; its id is the name of its document. */
export function foundBy(run: Named): readonly string[] {
  const names = namesOf(run).flatMap(([, name]) => (name.length <= MAX_SEARCHED_CHARS ? [name] : []));
  return [...new Set(names)];
}

/** The kind of the name for the run; undefined: no match. */
export function foundAs(run: Named, name: string): NameOfRun | undefined {
  return namesOf(run).find(([, one]) => one === name)?.[0];
}

/** Normalises a search text: trims blanks, and reduces a page of a pull request to the pull request. */
export function nameIn(text: string): string {
  const name = text.trim();
  return /^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+\/pull\/\d+(?=[/?#]|$)/.exec(name)?.[0] ?? name;
}

function namesOf({
  trigger,
  idempotencyKey,
  threadId,
  traceId,
  prUrl,
  tags = [],
}: Named): [NameOfRun, string][] {
  const names: [NameOfRun, string | undefined][] = [
    ['delivery', trigger.webhookEventId],
    // The key as its sender wrote it, and as the run shows it.
    ['idempotency_key', idempotencyKey === undefined ? undefined : keyAsSent(idempotencyKey)],
    ['idempotency_key', idempotencyKey],
    ['thread', threadId],
    ['trace', traceId],
    ['pull_request', prUrl],
    ...tags.map((tag): [NameOfRun, string] => ['tag', tag]),
  ];
  return names.flatMap(([as, name]) => (name === undefined || name === '' ? [] : [[as, name]]));
}
