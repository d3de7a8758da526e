/** The five answers to a question of a run: `approve`, `waive`, `send-back`, `reject`, `halt`. */
import type { Answer } from 'cairn/api/calls';
import { command } from '../../arguments/command.ts';
import { jsonValue } from '../../arguments/values.ts';
import type { CommandContext } from '../../context.ts';
import { Declined, UsageError } from '../../exit.ts';
import { clean } from '../../render/width.ts';
import { assertStep, isMissing } from '../did-you-mean.ts';
import { RUN, runIdOf } from './named.ts';

const STEP = { help: 'step that asks (default: the only one)', optional: true } as const;
const WAIT = {
  wait: {
    type: 'text',
    value: 'ID',
    help: 'id of the wait, e.g. sign-off.2 (default: the open one)',
  },
} as const;
const NOTE = { note: { type: 'text', value: 'TEXT', help: 'reason' } } as const;

const DATA = {
  data: {
    type: 'text',
    value: 'JSON',
    help: 'data that the approval asks for: JSON, @FILE, or - for standard input',
  },
} as const;

const RAISE = {
  raise: {
    type: 'list',
    value: 'LIMIT=AMOUNT',
    help: 'raise a limit of the budget: usd=5, tokens=100000, effects=10, operations=100, wallClock=2h; repeatable (default: the limits reached, by what the workflow declares)',
  },
} as const;
const RAISABLE: readonly string[] = ['usd', 'tokens', 'effects', 'operations', 'wallClock'];

type DecisionInput = Omit<Answer<'DecisionBody'>, 'waitId'>;

interface DecisionCommand {
  readonly run: string;
  readonly step: string | undefined;
  readonly wait: string | undefined;
  readonly body: DecisionInput;
}

export const approve = command({
  name: 'runs approve',
  summary: 'Approve a question of a run',
  args: { run: RUN, step: STEP },
  options: { ...NOTE, ...DATA, ...RAISE, ...WAIT },
  mutates: true,
  examples: [
    ['runs approve last', 'the one open question of the newest run'],
    ['runs approve last sign-off --note "looked at it with Bo"', 'of a named step'],
    [`runs approve last --data '{"amount":40}'`, 'with the data that it asks for'],
    ['runs approve last --raise usd=5', 'a run that has reached its budget'],
  ],
  run: async (context, { args, options: { note, data, raise, wait } }) => {
    const body = { note, raise: raiseOf(raise), ...(await dataOf(data, context)) };
    return decide(context, { ...args, wait, body: { decision: 'approve', ...body } });
  },
});

/** @throws UsageError */
async function dataOf(
  given: string | undefined,
  { world }: CommandContext,
): Promise<Pick<DecisionInput, 'data'>> {
  return given === undefined ? {} : { data: await jsonValue('--data', given, world) };
}

/** @throws UsageError */
function raiseOf(given: readonly string[]): DecisionInput['raise'] {
  if (given.length === 0) return undefined;
  const members = given.map((one) => {
    const [, name = '', amount = ''] = /^(\w+)=(.+)$/.exec(one) ?? [];
    if (!RAISABLE.includes(name))
      throw new UsageError(`--raise ${one}: use LIMIT=AMOUNT with a limit of ${RAISABLE.join(', ')}`);
    if (name !== 'wallClock' && !Number.isFinite(Number(amount)))
      throw new UsageError(`--raise ${one}: '${amount}' is not a number`);
    return [name, name === 'wallClock' ? amount : Number(amount)];
  });
  const twice = members.find(([name], i) => members.findIndex(([other]) => other === name) !== i);
  if (twice) throw new UsageError(`--raise names '${twice[0]}' twice; name each limit once`);
  return Object.fromEntries(members);
}

export const waive = command({
  name: 'runs waive',
  summary: 'Approve with a waiver; the note is recorded',
  args: { run: RUN, step: STEP },
  options: { note: { ...NOTE.note, required: 'a waiver requires a note with the reason' }, ...DATA, ...WAIT },
  mutates: true,
  examples: [
    ['runs waive last sign-off --note "no tests, but the fix is urgent"', 'an exception, with its reason'],
  ],
  run: async (context, { args, options: { note, data, wait } }) => {
    const body = { note, ...(await dataOf(data, context)) };
    return decide(context, { ...args, wait, body: { decision: 'approve_with_waiver', ...body } });
  },
});

export const sendBack = command({
  name: 'runs send-back',
  summary: 'Send steps back: they run again with your feedback',
  args: { run: RUN, step: STEP },
  options: {
    feedback: {
      type: 'text',
      value: 'TEXT',
      help: 'feedback for the steps',
      required: 'sending steps back requires feedback on what to change',
    },
    again: {
      type: 'list',
      value: 'STEP',
      help: 'step to run again, with all that follow it; repeatable (default: the dependencies of the approval)',
    },
    ...WAIT,
  },
  mutates: true,
  examples: [['runs send-back last --feedback "no migration" --again summary', 'one step and what follows']],
  run: (context, { args, options: { feedback, again, wait } }) =>
    decide(context, {
      ...args,
      wait,
      body: { decision: 'retry_with_feedback', feedback, steps: again.length === 0 ? undefined : [...again] },
    }),
});

export const reject = command({
  name: 'runs reject',
  summary: 'Reject a question of a run: the step fails',
  args: { run: RUN, step: STEP },
  options: { ...NOTE, ...WAIT },
  mutates: true,
  examples: [['runs reject last --note "not on a Friday"', 'the newest run']],
  run: (context, { args, options: { note, wait } }) =>
    decide(context, { ...args, wait, body: { decision: 'reject', note } }),
});

export const halt = command({
  name: 'runs halt',
  summary: 'Halt a run at its question: it is cancelled',
  args: { run: RUN, step: STEP },
  options: { ...NOTE, ...WAIT },
  mutates: true,
  examples: [['runs halt last sign-off --note "superseded by #18"', 'no further step runs']],
  run: (context, { args, options: { note, wait } }) =>
    decide(context, { ...args, wait, body: { decision: 'halt', note } }),
});

async function decide(
  context: CommandContext,
  { run, step, wait, body }: DecisionCommand,
): Promise<undefined> {
  const { api, out } = context;
  const id = await runIdOf(context, run);
  const stepId = step ?? (await onlyOpenQuestion(context, id));
  const decided = await api
    .change('POST', '/v1/runs/{id}/approvals/{stepId}', {
      params: { id, stepId },
      body: { ...body, waitId: wait },
    })
    .catch(async (error: unknown) => {
      if (isMissing(error)) await assertStep(api, id, stepId);
      throw error;
    });
  out.answer(decided, ({ style }) => {
    const by = decided.decidedBy === undefined ? '' : ` by ${clean(decided.decidedBy)}`;
    return `${style.paint('good', decided.decision)} ${decided.waitId}${by}\n`;
  });
}

async function onlyOpenQuestion({ api }: CommandContext, id: string): Promise<string> {
  const { waits } = await api.get('/v1/runs/{id}', { params: { id } });
  const asking = waits
    .filter(({ kind }) => kind === 'approval')
    .map(({ execution: { stepId, itemKey } }) => (itemKey === undefined ? stepId : `${stepId}[${itemKey}]`));
  const [step] = asking;
  if (step !== undefined && asking.length === 1) return step;
  throw asking.length === 0
    ? new Declined('the run asks nothing', `See what it waits for: cairn runs show ${id}`)
    : new UsageError(`several steps ask: ${asking.join(', ')}`, 'Name the step after the run.');
}
