/**
 * `runs bulk`: changes many runs, after it has listed them and asked. The key identifies the change, so a repetition changes no
 * run twice.
 */
import { createHash } from 'node:crypto';
import { type BulkResult, Refusal, type Refused, retryAfterMs, type Sent, sendBulk } from '@cairn/client';
import { command, type OptionsOf } from '../../arguments/command.ts';
import { declined, SAY_YES } from '../../confirm.ts';
import type { CommandContext } from '../../context.ts';
import { Declined, EXIT, type ExitCode, UsageError } from '../../exit.ts';
import { type BulkReport, bulkText, type ListedTarget, targetTable } from '../../views/bulk.ts';
import { FILTERS, MATCH, MAX_COSTLY_PAGES, queryOf } from './filters.ts';
import { runIdOf } from './named.ts';

const ACTIONS = ['cancel', 'resume', 'replay', 'approve'] as const;
type Action = (typeof ACTIONS)[number];

const USUAL = 100;
/** Ten pages. Repeat the command to change more runs. */
const MOST = 1_000;
/** Maximum of runs named by `--run`; each costs a request. */
const MAX_NAMED = 100;

/** Statuses to which the action applies; default of `--status`. */
const STATUSES: Readonly<Record<Exclude<Action, 'approve'>, readonly string[]>> = {
  cancel: ['pending', 'running', 'replaying', 'awaiting_approval', 'waiting_external', 'interrupted'],
  resume: ['failed', 'cancelled'],
  replay: ['completed', 'failed', 'cancelled'],
};

const OPTIONS = {
  ...FILTERS,
  match: MATCH,
  run: { type: 'list', value: 'RUN', help: 'only this run; give it several times for several' },
  step: { type: 'text', value: 'STEP', help: 'with approve: only questions of this step' },
  reason: { type: 'text', value: 'TEXT', help: 'with cancel: reason; recorded in each journal' },
  note: { type: 'text', value: 'TEXT', help: 'with approve: why' },
  limit: { type: 'number', value: 'N', range: [1, MOST], help: `how many at most (default ${USUAL})` },
  'dry-run': { type: 'flag', help: 'list them, and change nothing' },
  yes: { type: 'flag', help: 'do not ask' },
} as const;

type BulkOptions = OptionsOf<typeof OPTIONS>;

export const bulk = command({
  name: 'runs bulk',
  summary: 'Cancel, resume, replay or approve all runs that match',
  details:
    'Lists the runs, asks, then changes them, ten in a request. A run that refuses does not stop the others. With the same\n--key the command can be repeated after an interruption: what was done is not done again.',
  args: { action: { help: 'what to do with each', choices: ACTIONS } },
  options: OPTIONS,
  mutates: true,
  examples: [
    ['runs bulk resume --type order --since 2h', 'after the cause of their failures is fixed'],
    ['runs bulk cancel --thread nightly --dry-run', 'which runs would be cancelled'],
    ["runs bulk cancel --match 'amount>100'", 'by a tag that is a number'],
    ['runs bulk approve --type order --step agree --yes', 'all open questions of that step'],
    ['runs bulk replay --run lwdzb7 --run 4xsyom', 'these runs'],
  ],
  async run(context, { args, options }) {
    const { action } = args;
    assertFits(action, options);
    const { api, out } = context;
    const found = await targetsOf(context, action, options);
    if (options['dry-run'] || found.targets.length === 0) {
      const listed = { action, items: found.targets, more: found.more };
      out.answer(listed, (shape) => targetTable(listed, api.now(), shape));
      return EXIT.ok;
    }
    await confirm(context, { action, ...found, yes: options.yes });
    const report = await changed(context, { action, options, ...found });
    out.answer(report, (shape) => bulkText(report, shape));
    return exitOf(report);
  },
});

/** @throws UsageError for options that the action does not have, or if none selects */
function assertFits(action: Action, options: BulkOptions): void {
  const { step, reason, note, status, type, repo, thread, tag, match, since, until, run } = options;
  const byRun = [repo, thread, tag, since, until, options['waits-for'], status.length > 0 || undefined];
  if (action === 'approve' && byRun.some((one) => one !== undefined))
    throw new UsageError('approve selects with --type, --step, --match and --run only');
  if (action !== 'approve' && (step !== undefined || note !== undefined))
    throw new UsageError(`${action} takes neither --step nor --note`);
  if (action !== 'cancel' && reason !== undefined) throw new UsageError(`${action} takes no --reason`);
  const goesWithRun = action === 'approve' ? [match] : [...byRun, type, match];
  if (run.length > 0 && goesWithRun.some((one) => one !== undefined))
    throw new UsageError(`--run goes with no ${action === 'approve' ? '--match' : 'filter'}`);
  if (run.length > MAX_NAMED)
    throw new UsageError(`--run is given ${run.length} times; at most ${MAX_NAMED} are allowed`);
  if (run.length === 0 && [...byRun, type, step, match].every((one) => one === undefined))
    throw new UsageError('no filter is given', 'Select runs, for example with --type, --since or --run.');
}

interface FoundTargets {
  readonly targets: readonly ListedTarget[];
  readonly more: boolean;
}

async function targetsOf(
  context: CommandContext,
  action: Action,
  options: BulkOptions,
): Promise<FoundTargets> {
  const { api } = context;
  const { limit = USUAL, type, step, match } = options;
  const named = await namedRuns(context, options.run);
  const maxPages = match === undefined ? undefined : MAX_COSTLY_PAGES;
  if (action === 'approve') {
    const { items, more } = await api.list('/v1/inbox', { limit: MOST });
    const query = { type, match, status: 'awaiting_approval' };
    const matching =
      match === undefined ? undefined : await api.list('/v1/runs', { query, limit: MOST, maxPages });
    const ids = matching?.items.map(({ id }) => id) ?? (named.length > 0 ? named : undefined);
    const fitting = items.filter(
      (item) =>
        item.kind === 'approval' &&
        item.answers.includes('approve') &&
        (ids === undefined || ids.includes(item.runId)) &&
        (type === undefined || item.type === type) &&
        (step === undefined || item.step === step),
    );
    const targets = fitting.slice(0, limit).map(
      ({ runId, type, status, step, waitId, openedAt }): ListedTarget => ({
        runId,
        type,
        status,
        step,
        waitId,
        at: openedAt,
      }),
    );
    return { targets, more: more || matching?.more === true || fitting.length > limit };
  }
  if (named.length > 0) {
    const runs = await Promise.all(named.map((id) => api.get('/v1/runs/{id}', { params: { id } })));
    return { targets: runs.map(targetOf), more: false };
  }
  const given = await queryOf(api, options);
  const query = { ...given, match, status: given.status ?? STATUSES[action].join(',') };
  const { items, more } = await api.list('/v1/runs', { query, limit, maxPages });
  return { targets: items.map(targetOf), more };
}

function targetOf({
  id,
  type,
  status,
  createdAt,
}: {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: string;
}): ListedTarget {
  return { runId: id, type, status, at: createdAt };
}

/** Ids of the runs, each once. */
async function namedRuns(context: CommandContext, words: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const word of words) ids.push(await runIdOf(context, word));
  return [...new Set(ids)];
}

/** @throws Declined unless a person agrees, or `--yes` was given */
async function confirm(
  { world, api, notes, out }: CommandContext,
  { action, targets, more, yes }: FoundTargets & { readonly action: Action; readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  if (!out.json) {
    const shape = { style: notes.style, columns: notes.columns };
    notes.print(targetTable({ action, items: targets, more }, api.now(), shape));
  }
  const why = await declined(world, `${action} ${countText(targets.length, action)}?`);
  if (why !== undefined) throw new Declined(why, SAY_YES);
}

function countText(count: number, action: Action): string {
  const word = action === 'approve' ? 'question' : 'run';
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

interface BulkRequest extends FoundTargets {
  readonly action: Action;
  readonly options: BulkOptions;
}

async function changed({ world, api, notes, out }: CommandContext, change: BulkRequest): Promise<BulkReport> {
  const { action, options, targets, more } = change;
  const ends = new Map<ListedTarget, Sent<BulkResult>>();
  const batch = api.machine.newKey();
  const shows = world.stderr.isTty && !out.json;
  await sendBulk(targets, {
    send: (some, attempt) => {
      const runs = some.map(({ runId, step, waitId }) =>
        waitId === undefined ? runId : { runId, stepId: step, waitId },
      );
      const { reason, note } = options;
      return api.change('POST', '/v1/runs/bulk', {
        body: { act: action, batch, runs, reason, note },
        idempotencyKey: keyFor(batch, runs, attempt),
      });
    },
    refusalOf,
    onSent(target, sent) {
      if (sent.at !== 'done' && sent.at !== 'failed') return;
      ends.set(target, sent);
      if (shows) notes.print(`\r${action}: ${ends.size} of ${targets.length}`);
    },
    onPause() {},
    sleep: (ms, signal) => world.sleep(ms, signal),
    signal: world.interrupted,
  });
  if (shows) notes.print('\r\x1b[K');
  const done = targets.flatMap((target) => {
    const end = ends.get(target);
    return end?.at === 'done' ? [{ runId: target.runId, result: resultText(action, end.answer) }] : [];
  });
  const refused = targets.flatMap(({ runId }, i) => {
    const end = ends.get(targets[i] as ListedTarget);
    return end?.at === 'failed' ? [{ runId, ...reasonOf(end.error) }] : [];
  });
  return { action, matched: targets.length, more, done, refused, unsent: targets.length - ends.size };
}

/** Includes the runs, because a repeated command may match other runs, and then its requests differ. */
function keyFor(batch: string, runs: readonly unknown[], attempt: number): string {
  return `runs-${createHash('sha256')
    .update(JSON.stringify([batch, runs, ...(attempt === 1 ? [] : [attempt])]))
    .digest('hex')}`;
}

/** The outcome of a run: a word, or the id of its successor. */
function resultText(action: Action, { runId, answer }: BulkResult): string {
  if (action === 'approve') return 'approved';
  if (answer === undefined) return runId;
  if ('outcome' in answer) return answer.outcome;
  return action === 'cancel' && 'status' in answer ? answer.status : answer.runId;
}

function refusalOf(error: unknown): Refused | undefined {
  if (!(error instanceof Refusal)) return undefined;
  const { problem } = error;
  return { status: problem.status, retryAfterMs: retryAfterMs(problem) };
}

function reasonOf(error: unknown): { readonly code: string; readonly detail: string } {
  if (!(error instanceof Refusal)) return { code: 'UNREACHABLE', detail: (error as Error).message };
  const { code, detail, title } = error.problem;
  return { code, detail: detail ?? title };
}

function exitOf({ refused, unsent }: BulkReport): ExitCode {
  if (unsent > 0) return EXIT.interrupted;
  return refused.length > 0 ? EXIT.failed : EXIT.ok;
}
