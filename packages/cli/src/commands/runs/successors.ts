/** Commands that create a successor of a run (`resume`, `replay`, `fork`), and `preview`, which shows their effect. */
import type { Answer } from 'cairn/api/calls';
import { command } from '../../arguments/command.ts';
import { jsonValue } from '../../arguments/values.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode, UsageError } from '../../exit.ts';
import { previewText } from '../../views/preview.ts';
import { RUN, runCommand, runIdOf } from './named.ts';
import { watch } from './watch.ts';

const MODES = ['resume', 'replay', 'fork'] as const;
const LAST_SEQ = 9_999_999_999;

const FROM = {
  'from-step': {
    type: 'text',
    value: 'STEP',
    help: 'run this step and all that follow it; reuse the others',
  },
  'from-checkpoint': {
    type: 'number',
    value: 'SEQ',
    range: [1, LAST_SEQ],
    help: 'reuse what had completed at this checkpoint',
  },
} as const;
const FORCE = {
  force: { type: 'flag', help: 'override the policy of the workflow, once; requires the role admin' },
} as const;
const SIGNALS = {
  'carry-signals': { type: 'flag', help: 'the new run receives the unread signals' },
} as const;
const FOLLOW = { watch: { type: 'flag', help: 'follow the run until it ends' } } as const;
const OTHER = {
  input: { type: 'text', value: 'JSON', help: 'new input: JSON, @FILE, or - (default: the same)' },
  'plan-version': {
    type: 'number',
    value: 'N',
    range: [1, Number.MAX_SAFE_INTEGER],
    help: 'version of the workflow (default: the same)',
  },
} as const;

export const resumeRun = runCommand({
  name: 'runs resume',
  summary: 'Resume a run: a new run continues one that failed or was cancelled',
  details:
    'Completed steps are reused, the others run. A blocked run continues itself; an ended run never changes.',
  options: { ...FROM, ...SIGNALS, ...FORCE, ...FOLLOW },
  mutates: true,
  examples: [
    ['runs resume last --watch', 'after the cause of the failure is fixed'],
    ['runs resume last --from-step summarise', 'from an earlier step'],
  ],
  async run(context, id, { options }) {
    const { api, out } = context;
    const params = { id };
    const body = successorOf(options);
    const resumed = await api.change('POST', '/v1/runs/{id}/resume', { params, body });
    if ('outcome' in resumed && !options.watch) {
      out.answer(resumed, () =>
        resumed.outcome === 'resumed'
          ? `${resumed.runId} resumed\n`
          : `${resumed.runId} is already running\n`,
      );
      return EXIT.ok;
    }
    return printOrFollow(context, resumed, options.watch);
  },
});

export const replayRun = runCommand({
  name: 'runs replay',
  summary: 'Replay an ended run: recorded effects are reused, not repeated',
  options: { ...FROM, ...SIGNALS, ...FORCE, ...FOLLOW },
  mutates: true,
  examples: [['runs replay last --from-step verdict', 'with new code of a step, without repeating effects']],
  async run(context, id, { options }) {
    const body = successorOf(options);
    const replayed = await context.api.change('POST', '/v1/runs/{id}/replay', { params: { id }, body });
    return printOrFollow(context, replayed, options.watch);
  },
});

export const forkRun = runCommand({
  name: 'runs fork',
  summary: 'Fork an ended run: with new input or another version',
  options: {
    ...OTHER,
    thread: { type: 'text', value: 'ID', help: 'thread of the new run (default: the same)' },
    ...FROM,
    ...SIGNALS,
    ...FORCE,
    ...FOLLOW,
  },
  mutates: true,
  examples: [
    ['runs fork last --input @other.json', 'steps that do not depend on the change are reused'],
    ['runs fork last --plan-version 3', 'on a newer version of the workflow'],
  ],
  async run(context, id, { options }) {
    const other = await otherOf(context, options);
    const body = { ...successorOf(options), ...other, threadId: options.thread };
    const fork = await context.api.change('POST', '/v1/runs/{id}/fork', { params: { id }, body });
    return printOrFollow(context, fork, options.watch);
  },
});

export const previewRun = command({
  name: 'runs preview',
  summary: 'Preview a resume, replay or fork: steps reused and run, effects; changes nothing',
  args: { run: RUN, mode: { help: 'action to preview', choices: MODES } },
  options: { ...OTHER, ...FROM },
  examples: [
    ['runs preview last resume', 'before anything happens'],
    ['runs preview last fork --plan-version 3', 'steps that a newer version would reuse'],
  ],
  async run(context, { args, options }) {
    const { api, out } = context;
    const { mode } = args;
    if (mode !== 'fork' && (options.input !== undefined || options['plan-version'] !== undefined))
      throw new UsageError('--input and --plan-version require the mode fork');
    const params = { id: await runIdOf(context, args.run) };
    const body = { mode, ...fromOf(options), ...(await otherOf(context, options)) };
    const preview = await api.change('POST', '/v1/runs/{id}/preview', { params, body });
    out.answer(preview, (shape) => previewText(preview, shape));
    return preview.blockers.length > 0 ? EXIT.failed : EXIT.ok;
  },
});

interface FromOptions {
  readonly 'from-step': string | undefined;
  readonly 'from-checkpoint': number | undefined;
}

function fromOf({ 'from-step': step, 'from-checkpoint': checkpoint }: FromOptions) {
  if (step !== undefined && checkpoint !== undefined)
    throw new UsageError('--from-step and --from-checkpoint exclude each other');
  if (step !== undefined) return { from: { step } };
  return checkpoint === undefined ? {} : { from: { checkpoint } };
}

type SuccessorOptions = FromOptions & { readonly 'carry-signals': boolean; readonly force: boolean };

/** Members common to the requests of all successors. */
function successorOf({ 'carry-signals': carries, force, ...from }: SuccessorOptions) {
  return { ...fromOf(from), ...(carries && { signals: 'carry' as const }), ...(force && { force }) };
}

interface OtherOptions {
  readonly input: string | undefined;
  readonly 'plan-version': number | undefined;
}

async function otherOf({ world }: CommandContext, { input, 'plan-version': planVersion }: OtherOptions) {
  return {
    // Undefined: the successor gets the same input.
    input: await jsonValue('--input', input, world),
    planVersion,
  };
}

/** Prints the id of the successor, or follows it with `--watch`. */
async function printOrFollow(
  context: CommandContext,
  run: Answer<'RunStarted'> | Answer<'Resumed'>,
  isWatched: boolean,
): Promise<ExitCode> {
  const { out, notes } = context;
  if (!isWatched) {
    out.answer(run, () => `${run.runId}\n`);
    return EXIT.ok;
  }
  if (!out.json) notes.print(`${run.runId}\n`);
  return watch(context, run.runId, 0);
}
