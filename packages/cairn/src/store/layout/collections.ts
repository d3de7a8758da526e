/** The names of an installation's collections, by its prefix. Pure. */

/** The prefix of the data model's own names, under which the collections below a run have none. */
export const PREFIX_OF_THE_MODEL = 'gwi_';

const PREFIX = /^[a-z][a-z0-9_-]{0,31}$/;

export type CollectionNames = Readonly<ReturnType<typeof collectionNames>>;

/**
 * The prefix covers the collections below a run as well, because index exemptions apply to every collection of an id: those of
 * `events` would break the queries of an app that has such a collection in the same database.
 *
 * @throws Error for an invalid prefix
 */
export function collectionNames(prefix: string) {
  if (!PREFIX.test(prefix))
    throw new Error(
      `'${prefix}' is not a collection prefix: a lower-case letter, then up to 31 lower-case letters, digits, hyphens and underscores`,
    );
  const below = prefix === PREFIX_OF_THE_MODEL ? '' : prefix;
  return {
    runs: `${prefix}runs`,
    idempotency: `${prefix}idempotency`,
    waits: `${prefix}waits`,
    clients: `${prefix}clients`,
    config: `${prefix}config`,
    findings: `${prefix}findings`,
    schedules: `${prefix}schedules`,
    effects: `${prefix}effects`,
    plans: `${prefix}plans`,
    erasures: `${prefix}erasures`,
    budgets: `${prefix}budgets`,
    // Below a run.
    events: `${below}events`,
    checkpoints: `${below}checkpoints`,
    steps: `${below}steps`,
    payloads: `${below}payloads`,
    pages: `${below}pages`,
    logs: `${below}logs`,
    // Below a step.
    memos: `${below}memos`,
  };
}
