/** Problems of a run, and the changes of a repair. Pure. */
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { asCalled } from '../invocation.ts';
import type { Tone } from '../render/style.ts';
import { clean } from '../render/width.ts';
import { section } from './run-page.ts';

const VERDICTS: Readonly<Record<Answer<'Consistency'>['verdict'], readonly [Tone, string]>> = {
  consistent: ['good', 'all documents match the journal'],
  healable: ['warn', 'repair --apply fixes all of it'],
  needs_person: ['bad', 'some of it needs a person'],
  broken: ['bad', 'the journal itself is damaged, and nothing can be repaired'],
};

export function consistencyText(
  { runId, verdict, head, problems, more, unread }: Answer<'Consistency'>,
  shape: OutputShape,
): string {
  const { style } = shape;
  const [tone, text] = VERDICTS[verdict];
  // Effects without a run have no journal.
  const meaning = verdict === 'consistent' && head === undefined ? 'all rows are sound' : text;
  const events = head === undefined ? '' : style.dim(` (${head} events)`);
  return [
    `${style.paint(tone, verdict)} ${clean(runId)}: ${meaning}${events}\n`,
    problems.map((problem) => problemText(problem, shape)).join(''),
    moreText(more, shape),
    unread.length === 0
      ? ''
      : style.dim(`${unread.length} large values were not checked: there are too many.\n`),
  ].join('');
}

const OUTCOMES: Readonly<Record<Answer<'Repair'>['outcome'], readonly [Tone, string]>> = {
  sound: ['good', 'nothing to repair'],
  refused: ['bad', 'none of it can be repaired'],
  planned: ['warn', 'these changes would be made; --apply makes them'],
  applied: ['good', 'these changes were made'],
};

export function repairText(
  { runId, outcome, changes, more, refused, events }: Answer<'Repair'>,
  shape: OutputShape,
): string {
  const { style } = shape;
  const [tone, meaning] = OUTCOMES[outcome];
  const eventsText = events.length === 0 ? '' : style.dim(` (event ${events.join(', ')})`);
  return [
    `${style.paint(tone, outcome)} ${clean(runId)}: ${meaning}${eventsText}\n`,
    changes.map((change) => changeText(change, shape)).join(''),
    moreText(more, shape),
    section('Needs a person', refused.map((problem) => problemText(problem, shape)).join(''), shape),
  ].join('');
}

function problemText(
  { code, severity, healable, subject, title, help, evidence }: Answer<'Consistency'>['problems'][number],
  { style, call }: OutputShape,
): string {
  const facts = Object.entries(evidence).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [
    `  ${style.paint(severity === 'error' ? 'bad' : 'warn', code)} ${clean(subject)}${healable ? style.dim(' (healable)') : ''}\n`,
    `    ${clean(title)}${facts.length === 0 ? '' : style.dim(`: ${clean(facts.join(', '))}`)}\n`,
    healable ? '' : `    ${style.dim(asCalled(clean(help), call))}\n`,
  ].join('');
}

function changeText(
  { subject, action, fixes, differences = [], waitId }: Answer<'Repair'>['changes'][number],
  { style }: OutputShape,
): string {
  const lines = differences.map(
    ({ member, before = 'nothing', after = 'nothing' }) =>
      `    ${clean(member)}: ${style.paint('bad', clean(before))} → ${style.paint('good', clean(after))}\n`,
  );
  const wait = waitId === undefined ? '' : ` ${clean(waitId)}`;
  return `  ${style.bold(action)} ${clean(subject)}${wait} ${style.dim(fixes.join(', '))}\n${lines.join('')}`;
}

function moreText(more: number | undefined, { style }: OutputShape): string {
  return more === undefined ? '' : style.dim(`  and ${more} more\n`);
}
