/** The names of an installation's collections, by its prefix. Pure. */

/** The prefix of the data model. With it, the collections below a run have no prefix. */
export const PREFIX_OF_THE_MODEL = 'gwi_';

const PREFIX = /^[a-z][a-z0-9_-]{0,31}$/;

export type CollectionNames = Readonly<ReturnType<typeof collectionNames>>;

/**
 * The prefix also applies to the collections below a run, because an index exemption applies to every collection with its id:
 * exemptions for `events` would break the queries of an app with such a collection in the same database.
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
    // These collections are below a run.
    events: `${below}events`,
    checkpoints: `${below}checkpoints`,
    steps: `${below}steps`,
    payloads: `${below}payloads`,
    pages: `${below}pages`,
    logs: `${below}logs`,
    // This collection is below a step.
    memos: `${below}memos`,
  };
}
