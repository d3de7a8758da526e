/**
 * `npm run power-cut`: traces the system calls of a process that commits to the storage of the local cloud, and cuts the power,
 * in a model of the disk, at moments between them. With `--sync`, every acknowledged commit must survive, and the files must be
 * accepted. Without it, commits must be missing; otherwise the model would prove nothing. Ends with one line of JSON; exit code 0
 * only if both hold.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { seededRandomness } from '../../packages/cairn/src/testing/world/seeded-randomness.ts';
import { countsOf } from '../flags.ts';
import { Disk } from './disk.ts';
import { openStores } from './stores.ts';
import { type Operation, operationsOf, TRACED } from './trace.ts';

const USAGE = `npm run power-cut -- [options]

  --cuts N    moments at which the power is cut (default: 150)
  --help      print this
`;

/** Each moment is tried without any unsynced writes, and with two random subsets. */
const { cuts: CUTS } = countsOf(USAGE, { cuts: 150 });
const DRAWS = [0, 0.5, 0.9];

interface Outcome {
  readonly operations: number;
  readonly syncs: number;
  readonly cuts: number;
  /** Cuts after which an acknowledged commit was missing. */
  readonly lost: number;
  /** Cuts after which the files were refused as damaged. */
  readonly refused: number;
  readonly example: string | undefined;
}

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'cairn-power-cut-')));
try {
  const synced = outcome('sync');
  const unsynced = outcome('no-sync');
  const isShown = synced.lost + synced.refused === 0 && unsynced.lost + unsynced.refused > 0;
  process.stdout.write(`${JSON.stringify({ ok: isShown, sync: synced, withoutSync: unsynced })}\n`);
  process.exitCode = isShown ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function outcome(mode: 'sync' | 'no-sync'): Outcome {
  const operations = traced(mode);
  const moments = operations.flatMap(({ kind }, i) => (kind === 'create' ? [] : [i]));
  const every = Math.max(1, Math.floor(moments.length / CUTS));
  const chosen = new Set(moments.filter((_, i) => i % every === 0));
  const disk = new Disk();
  const acknowledged = { documents: 0, rows: 0 };
  const random = seededRandomness(1).unit;
  let [cuts, lost, refused] = [0, 0, 0];
  let example: string | undefined;
  for (const [i, operation] of operations.entries()) {
    disk.carryOut(operation);
    if (operation.kind === 'print') note(operation.text, acknowledged);
    if (!chosen.has(i)) continue;
    for (const share of DRAWS) {
      cuts += 1;
      const found = afterRestart(disk.afterCut(() => random() < share));
      if (typeof found === 'string') {
        refused += 1;
        example ??= found;
      } else if (found.documents < acknowledged.documents || found.rows < acknowledged.rows) {
        lost += 1;
        example ??= `of ${JSON.stringify(acknowledged)} there are ${JSON.stringify(found)}`;
      }
    }
  }
  const syncs = operations.filter(({ kind }) => kind === 'sync').length;
  return { operations: operations.length, syncs, cuts, lost, refused, example };
}

function traced(mode: string): Operation[] {
  const folder = join(scratch, mode);
  const trace = join(scratch, `${mode}.trace`);
  mkdirSync(folder);
  const strace = ['-qq', '-y', '-xx', '-s', '4000000', '-e', `trace=${TRACED}`, '-o', trace];
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'writer.ts'),
  ];
  const { status, stderr, error } = spawnSync('strace', [...strace, ...node, folder, mode], {
    encoding: 'utf8',
  });
  if (error) throw new Error('power-cut needs strace (on Debian: apt-get install strace)', { cause: error });
  if (status !== 0) throw new Error(`strace or the traced process failed: ${stderr.trim()}`);
  const operations = operationsOf(readFileSync(trace, 'latin1'), folder);
  if (!operations.some((one) => one.kind === 'print' && one.text.startsWith('end')))
    throw new Error('the trace has no end of the traced process');
  return operations;
}

function note(text: string, acknowledged: { documents: number; rows: number }): void {
  const [name, count] = text.trim().split(' ');
  if (name === 'documents' || name === 'rows') acknowledged[name] = Number(count);
}

/** The rows and documents that a start with these files finds, or the reason of its refusal. */
function afterRestart(files: ReadonlyMap<string, Buffer>) {
  const folder = mkdtempSync(join(scratch, 'cut-'));
  try {
    for (const [name, content] of files) writeFileSync(join(folder, basename(name)), content);
    const stores = openStores(folder, false);
    const found = { documents: stores.documents(), rows: stores.rows() };
    stores.close();
    return found;
  } catch (error) {
    return (error as Error).message.replaceAll(folder, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
