/** `effects …`: calls of external systems by runs, and the resolution of those in doubt. */
import { command } from '../arguments/command.ts';
import { jsonValue } from '../arguments/values.ts';
import type { CommandContext } from '../context.ts';
import { Declined, EXIT, UsageError } from '../exit.ts';
import { clean } from '../render/width.ts';
import { effectTable } from '../views/effects.ts';
import { DEFAULT_LISTED, limitOption, noteMore } from './listed.ts';
import { RUN, runCommand, runIdOf } from './runs/named.ts';

/** Idempotency key and number of the row. */
const WHOLE_ID = /^[0-9a-f]{64}\.\d{4}$/;
const OUTCOMES = ['recorded', 're-execute', 'failed'] as const;
const MAX_LISTED = 5_000;

export const listEffects = runCommand({
  name: 'effects list',
  summary: 'List the effects of a run, in order',
  options: {
    limit: limitOption({ most: MAX_LISTED }),
  },
  examples: [
    ['effects list last', 'the newest run'],
    ['effects list last --json', 'with requests, results and resolutions'],
  ],
  async run(context, id, { options }) {
    const { api, out, notes } = context;
    const params = { id };
    const found = await api.list('/v1/runs/{id}/effects', { params, limit: options.limit ?? DEFAULT_LISTED });
    out.answer(found, (shape) => effectTable(found.items, api.now(), shape));
    if (found.items.length === 0 && !out.json) notes.print('No effects.\n');
    noteMore(context, found.more);
  },
});

export const resolveEffect = command({
  name: 'effects resolve',
  summary: 'Resolve a side effect in doubt, or allow or forbid one that requires consent',
  details:
    'In doubt: check with the receiver first. recorded: the call took place, and --result is its result; re-execute: call\nagain; failed: it did not take place, and the step fails.\nBefore a call: re-execute allows it; recorded: it was made by other means, and --result is its result; failed forbids\nit.\nBefore a repetition: recorded uses the result on record (no --result); re-execute repeats the call; failed fails the\nstep.\nOf a run that has ended: recorded or failed; the resolution is recorded, and the run does not change.',
  args: {
    run: RUN,
    effect: { help: 'id of the effect or its beginning; see effects list' },
    outcome: { help: 'outcome', choices: OUTCOMES },
  },
  options: {
    result: {
      type: 'text',
      value: 'JSON',
      help: 'with recorded: response of the receiver as JSON, @FILE, or -',
    },
    note: { type: 'text', value: 'TEXT', help: 'evidence' },
  },
  mutates: true,
  examples: [
    [`effects resolve last 9f3c recorded --result '{"id":"pay_1"}'`, 'it took place'],
    ['effects resolve last 9f3c failed --note "they never got it"', 'also of a run that has ended'],
    ['effects resolve last 9f3c re-execute --note "not found there"', 'call it again, or allow the call'],
  ],
  async run(context, { args, options }) {
    const { api, out, world } = context;
    const { outcome } = args;
    if (options.result !== undefined && outcome !== 'recorded')
      throw new UsageError('--result goes with recorded only');
    const id = await runIdOf(context, args.run);
    const params = { id, effectId: await effectIdOf(context, id, args.effect) };
    const result = await jsonValue('--result', options.result, world);
    const body = { outcome, result, note: options.note };
    const resolved = await api.change('POST', '/v1/runs/{id}/effects/{effectId}/resolve', { params, body });
    out.answer(
      resolved,
      ({ style }) =>
        `${style.paint('good', resolved.outcome)} ${resolved.effectId} by ${clean(resolved.resolvedBy)}\n`,
    );
  },
});

/** @throws Declined unless exactly one effect of the run begins so */
async function effectIdOf({ api }: CommandContext, id: string, word: string): Promise<string> {
  if (WHOLE_ID.test(word)) return word;
  const start = word.replace(/…$/, '');
  const { items } = await api.list('/v1/runs/{id}/effects', { params: { id }, limit: MAX_LISTED });
  const matches = items.filter(({ effectId }) => effectId.startsWith(start));
  const [effect] = matches;
  if (effect && matches.length === 1) return effect.effectId;
  throw effect
    ? new Declined(`${matches.length} effects of the run begin with '${start}'`, 'Give more of the id.')
    : new Declined(
        `no effect of the run begins with '${start}'`,
        `See cairn effects list ${id}`,
        EXIT.notFound,
      );
}
