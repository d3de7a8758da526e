/** Flags of Node for the processes of the local cloud, and which of these end soon. */

type Env = Readonly<Record<string, string | undefined>>;

const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * By default V8 compiles a function with Maglev after 400 calls, and after 500 more when it sees another kind of value. Most functions are
 * called one to ten times a run, so the first hundreds of runs would be interpreted. V8 of Node 22 and 24 has both flags; they only set
 * thresholds.
 *
 * By default the young generation grows to two halves of 64 MB, most of which is not in the processor's cache.
 */
export const NODE_FLAGS: readonly string[] = [
  QUIET,
  '--invocation-count-for-maglev=40',
  '--minimum-invocations-after-ic-update=40',
  '--max-semi-space-size=16',
];

/**
 * {@link NODE_FLAGS}; for a process that ends after a few runs V8's own thresholds, because compiling so early costs more CPU than it saves.
 */
export function nodeFlags(env: Env): readonly string[] {
  return isShortLived(env) ? [QUIET] : NODE_FLAGS;
}

/** Tests set `CAIRN_SHORT_LIVED=1`, because their clouds end before work for later runs or for idle memory pays off. */
export function isShortLived(env: Env): boolean {
  return env.CAIRN_SHORT_LIVED === '1';
}
