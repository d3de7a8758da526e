/** The waits of listed runs that were last written by a version of Cairn without the member `listed`. */
import type { ListedWaits } from '../../core/search/listing.ts';
import type { ListedRun } from '../../ports/run-store.ts';
import { ifDecodable } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { type DecodedListed, decodeListedWaits } from '../codec/snapshot.ts';
import type { Paths } from '../paths.ts';

/** Runs read at once: the waits of a run take up to 512 KiB, and only the first few of each are kept. */
const RUNS_A_READ = 8;

interface ListedRuns {
  readonly runs: readonly ListedRun[];
  /** Ids of runs whose waits cannot be decoded. */
  readonly damaged: readonly string[];
}

/** Billed one read for each run whose `listed` is missing or outdated; none once this version has written the run. */
export async function withWaits(paths: Paths, listed: readonly DecodedListed[]): Promise<ListedRuns> {
  const missing = listed.flatMap(({ state, waits }) => (waits ? [] : [state.id]));
  const read = new Map<string, ListedWaits>();
  const damaged: string[] = [];
  for (let from = 0; from < missing.length; from += RUNS_A_READ) {
    const wanted = missing.slice(from, from + RUNS_A_READ).map((id) => paths.run(id));
    const found = await call('read of waits', () =>
      paths.runs().firestore.getAll(...wanted, { fieldMask: ['waits'] }),
    );
    for (const document of found) {
      const waits = ifDecodable(() => decodeListedWaits({ ...document.data() }, `run ${document.id}`));
      if (waits) read.set(document.id, waits);
      else damaged.push(document.id);
    }
  }
  const runs = listed.flatMap((run) => {
    const waits = run.waits ?? read.get(run.state.id);
    return waits ? [{ ...run, waits }] : [];
  });
  return { runs, damaged };
}
