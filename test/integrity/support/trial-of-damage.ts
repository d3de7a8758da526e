/**
 * One document of a run is damaged at random: it must be named unless it still means the same, and a repair must bring
 * back what was there, or refuse; never a lie. The undamaged documents are the judge.
 */

import { differing, isSameValue } from '../../../packages/cairn/src/core/integrity/differing.ts';
import { isBlocking } from '../../../packages/cairn/src/core/integrity/problems.ts';
import { reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RepairReport } from '../../../packages/cairn/src/operations/integrity/repair.ts';
import type { Draw } from '../../programs/data/draw.ts';
import type { Bench } from './bench.ts';
import { type Damage, damage } from './damage.ts';
import { changedMeaning, idsOf, isUntouched, meaningOf } from './meaning.ts';

export interface DamageTrial {
  readonly damage: Damage;
  readonly codes: readonly string[];
  readonly end: 'harmless' | 'repaired' | 'partly repaired' | 'refused';
  /** A process died while it repaired. */
  readonly died: boolean;
}

class Died extends Error {}

/** Undefined if what was drawn changed nothing. @throws Error saying what was damaged, and what went wrong */
export async function trialOfDamage(whole: Bench, draw: Draw): Promise<DamageTrial | undefined> {
  const bench = whole.copy();
  const done = damage(bench.shelf, draw);
  if (!done || isUntouched(whole.shelf, bench.shelf)) return undefined;
  try {
    const known = await namesOf(whole);
    const names = await namesOf(bench);
    const lost = isSameValue(names, known) ? changedMeaning(whole.shelf, bench.shelf) : undefined;
    if (lost !== undefined && !isAsIfNeverWritten(whole, done))
      throw new Error(`nobody has noticed that ${lost} is another`);
    const died = await repairAndDie(bench, draw);
    const end = await assertRepaired(whole, bench);
    return { damage: done, codes: [...new Set(names.map(([code = '']) => code))], end, died };
  } catch (error) {
    const what = `${done.kind} (${done.what}) of ${done.folder}/${done.id} of run ${bench.runId}`;
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * The newest event of a run under its drive, gone before anything was written that knows of it: the documents are those of the
 * moment before, and whoever was at it then meets the gap with its next event.
 */
function isAsIfNeverWritten({ shelf }: Bench, { kind, folder, id }: Damage): boolean {
  const newest = [...shelf.folders.events.keys()].sort().at(-1);
  const { lease, head } = shelf.snapshot();
  return (
    kind === 'delete' && folder === 'events' && id === newest && lease !== undefined && Number(id) > head
  );
}

/** Code and document of every problem. */
async function namesOf(bench: Bench): Promise<string[][]> {
  return (await bench.check()).map(({ code, subject }) => [code, subject]);
}

/** Half of those who repair die at one of their writes. */
async function repairAndDie(bench: Bench, draw: Draw): Promise<boolean> {
  if (draw.chance(0.5)) return false;
  const moment = draw.pick(['before', 'after'] as const);
  bench.shelf.onCommit = (at) => {
    if (at === moment) throw new Died();
  };
  try {
    await bench.repair();
    return false;
  } catch (error) {
    if (error instanceof Died) return true;
    throw error;
  } finally {
    bench.shelf.onCommit = () => {};
  }
}

async function assertRepaired(whole: Bench, bench: Bench): Promise<DamageTrial['end']> {
  const damaged = bench.copy();
  const report = await bench.repair();
  const left = await bench.check();
  if (!left.some(isBlocking) && left.some(({ healable }) => healable))
    throw new Error(`left as it was: ${JSON.stringify(left)}`);
  if (!isSameValue(left, report.refused)) throw new Error(`refused, and not told: ${JSON.stringify(left)}`);
  const { events } = bench.shelf.folders;
  for (const [id, { members }] of damaged.shelf.folders.events)
    if (!isSameValue(members, events.get(id)?.members)) throw new Error(`event ${id} was changed`);
  // Told by this repair, or by the one that died.
  const isTold = events.size > whole.shelf.folders.events.size;
  if (isTold) assertTrue(whole, bench, report);
  else if (!isUntouched(damaged.shelf, bench.shelf)) throw new Error('changed, and nobody was told');

  const settled = bench.copy();
  const again = await bench.repair();
  if (again.events.length > 0 || !isUntouched(settled.shelf, bench.shelf)) throw new Error('repaired twice');
  if (left.length > 0) return isTold ? 'partly repaired' : 'refused';
  return isTold ? 'repaired' : 'harmless';
}

/** Asserts that the written documents equal those before the damage, plus the journal's record. */
function assertTrue(whole: Bench, { shelf }: Bench, { refused }: RepairReport): void {
  const before = whole.shelf.snapshot();
  const expected = shelf.journal().slice(before.head).reduce(reduce, before);
  const amiss = differing(shelf.snapshot(), expected);
  if (amiss.length > 0) throw new Error(`a lie in the run document: ${amiss.join(', ')}`);
  // Documents that could not be repaired are unchanged, and reported.
  const reportedSubjects = new Set(refused.map(({ subject }) => subject));
  for (const folder of ['steps', 'checkpoints'] as const)
    for (const id of idsOf(folder, whole.shelf, shelf)) {
      if (reportedSubjects.has(`${folder}/${id}`)) continue;
      if (!isSameValue(meaningOf(whole.shelf, folder, id), meaningOf(shelf, folder, id)))
        throw new Error(`a lie in ${folder}/${id}`);
    }
}
