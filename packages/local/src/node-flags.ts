/** Flags of Node for the processes of the local cloud, and which of these end soon. */

type Env = Readonly<Record<string, string | undefined>>;

const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * By default V8 compiles a function with Maglev after 400 calls, and after 500 more when it sees another kind of value. Most functions are
 * called one to ten times a run, so the first hundreds of runs would be interpreted. V8 of Node 22 and 24 has both flags; they are
 * thresholds only.
 *
 * The young generation would grow to two halves of 64 MB, most of which is memory that a processor's cache has not seen for long.
 */
export const NODE_FLAGS: readonly string[] = [
  QUIET,
  '--invocation-count-for-maglev=40',
  '--minimum-invocations-after-ic-update=40',
  '--max-semi-space-size=16',
];

/**
 * {@link NODE_FLAGS}, or V8's own thresholds for a process that ends after a few runs: it takes more CPU to compile so early than it saves.
 */
export function nodeFlags(env: Env): readonly string[] {
  return isShortLived(env) ? [QUIET] : NODE_FLAGS;
}

/** Tests set `CAIRN_SHORT_LIVED=1`: their clouds end before what is done for later runs, or for the memory of an idle process, pays. */
export function isShortLived(env: Env): boolean {
  return env.CAIRN_SHORT_LIVED === '1';
}
