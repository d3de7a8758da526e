/** One run as a page: its head, its steps, its waits and how to answer them, and its events. Pure. */
import {
  ago,
  budgetLines,
  duration,
  explainStop,
  type Move,
  moveOf,
  needsDecision,
  UNDECIDABLE,
  waitLine,
} from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { asCalled, PLAIN_CALL } from '../invocation.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { cells, clean, cutTo, wrap } from '../render/width.ts';
import { isOver, statusText } from './runs.ts';

export type RunView = Answer<'Run'>;
type RunWait = RunView['waits'][number];

const VALUE_CHARS = 400;

/** @param now epoch ms */
export function runHead(
  run: RunView,
  now: number,
  { style, columns, call = PLAIN_CALL }: OutputShape,
): string {
  const status = style.paint(statusTone(run.status), statusText(run));
  const took = run.durationMs === undefined ? '' : ` in ${duration(run.durationMs)}`;
  const rows = factsOf(run, now, call).map(
    ([name, value]) =>
      `  ${style.dim(name.padEnd(10))}  ${cutTo(clean(value), columns === undefined ? VALUE_CHARS : Math.max(20, columns - 14))}`,
  );
  return `${style.bold(`${run.type} v${run.planVersion}`)} ${status}${took}  ${style.dim(run.id)}\n${rows.join('\n')}\n`;
}

function factsOf(run: RunView, now: number, call: string): (readonly [string, string])[] {
  const { trigger, source, parent, lease, error, cancellation } = run;
  const about = [run.prUrl ?? run.prId, run.prId === undefined ? run.repoId : undefined];
  const facts: (readonly [string, string | undefined])[] = [
    [
      'created',
      `${moment(run.createdAt)} (${ago(run.createdAt, now)}) by ${[trigger.source, trigger.userId].filter(Boolean).join(' ')}`,
    ],
    ['ended', run.completedAt && `${moment(run.completedAt)} (${ago(run.completedAt, now)})`],
    ['about', about.find((text) => text !== undefined)],
    ['thread', run.threadId === run.id ? undefined : run.threadId],
    ['tags', run.tags?.join('  ')],
    ['tenant', run.tenantId],
    ['input', valueText(run.input, run.inputRef, call)],
    ['result', valueText(run.result, run.resultRef, call)],
    [
      'error',
      error &&
        `${error.code}: ${error.message}${error.stepId === undefined ? '' : ` (step ${error.stepId})`}`,
    ],
    [
      'cancel',
      cancellation &&
        [cancellation.stopKind, cancellation.actor && `by ${cancellation.actor}`, cancellation.reason]
          .filter(Boolean)
          .join(' · '),
    ],
    [
      'suspended',
      run.suspension &&
        [
          ago(run.suspension.requestedAt, now),
          run.suspension.actor && `by ${run.suspension.actor}`,
          run.suspension.reason,
        ]
          .filter(Boolean)
          .join(' · '),
    ],
    ['stopped', run.stopped && explainStop(run.stopped).text],
    ['blocked', run.blocked ? undefined : run.parked],
    [
      'worker',
      lease && !isOver(run.status)
        ? (silenceText(run, now) ?? `dispatch ${lease.epoch}, lease until ${moment(lease.expiresAt)}`)
        : undefined,
    ],
    ['running', runningText(run, now)],
    ['lease', isOver(run.status) ? undefined : leaseWaitText(run)],
    ['isolated', isOver(run.status) ? undefined : suspicionText(run)],
    [
      'next check',
      !isOver(run.status) && !run.blocked && run.wakeAt !== undefined ? ago(run.wakeAt, now) : undefined,
    ],
    [
      'resumed',
      run.resumeCount > 0 ? (run.resumeCount === 1 ? 'once' : `${run.resumeCount} times`) : undefined,
    ],
    [
      'source',
      source &&
        `${source.runId} (${source.mode}${source.checkpointId === undefined ? '' : `, checkpoint ${source.checkpointId}`})`,
    ],
    ['continued', run.supersededBy],
    ['parent', parent && `${parent.runId} (step ${parent.stepId})`],
    ['budget', run.budget && budgetLines(run.budget).join('; ')],
    ['cost', costText(run.cost)],
    ['trace', run.traceId],
  ];
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== '');
}

/** Longer than the interval between heartbeats of a healthy dispatch, locally and deployed. */
const SILENT_MS = 40_000;

/** Undefined while the dispatch sends heartbeats. */
function silenceText({ lease, lastHeartbeatAt }: RunView, now: number): string | undefined {
  if (!lease || lastHeartbeatAt === undefined) return undefined;
  const silentMs = now - Date.parse(lastHeartbeatAt);
  if (silentMs < SILENT_MS) return undefined;
  return `dispatch ${lease.epoch}, no heartbeat for ${duration(silentMs)}; if its worker died, the run continues after ${moment(lease.expiresAt)}`;
}

/** Most names that are listed. */
const MAX_NAMED = 5;

/** Running bodies, each with its start time, and its attempt if it is not the first. */
function runningText({ running, runningCount }: RunView, now: number): string {
  const named = running.slice(0, MAX_NAMED).map(({ step, attempt, since, undoes, location }) => {
    const which = [
      undoes && 'undoing',
      attempt > 1 && `attempt ${attempt}`,
      `since ${ago(since, now)}`,
      location && `asked for at ${location}`,
    ];
    return `${step} (${which.filter(Boolean).join(', ')})`;
  });
  const more = runningCount - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function leaseWaitText({ leaseWait }: RunView): string | undefined {
  return leaseWait && `if the worker died, the run continues at ${moment(leaseWait.until)}: ${leaseWait.why}`;
}

function suspicionText({ suspect }: RunView): string | undefined {
  if (!suspect?.alone) return undefined;
  const { steps, deaths } = suspect;
  const at = steps.length > 0 ? ` at ${steps.join(', ')}` : '';
  const alone = deaths
    .map(({ step, times }) => `died ${times === 1 ? 'once' : `${times} times`} alone at ${step}`)
    .join(', ');
  return `since its worker died${at}${alone && `; ${alone}`}`;
}

/** The reason why the run cannot continue, in one sentence, with advice. */
export function findingText(
  { code, title, message, stepId, help }: Omit<NonNullable<RunView['finding']>, 'since'>,
  { style, call }: OutputShape,
): string {
  const at = stepId === undefined ? '' : ` at step ${clean(stepId)}`;
  return `  ${style.paint('bad', code)} ${title}${at}: ${clean(message)}\n    ${style.dim(asCalled(help, call))}\n`;
}

/** The reason why the run makes no progress, since when, and advice. */
export function blockedText(
  { message, since, help }: NonNullable<RunView['blocked']>,
  now: number,
  { style, call }: OutputShape,
): string {
  return `  ${clean(message)} ${style.dim(`(${ago(since, now)})`)}\n    ${style.dim(asCalled(help, call))}\n`;
}

/** Billed operations, and their price without free tiers. */
export function costText({ reads, writes, deletes, tasks, usd }: RunView['cost']): string {
  const amounts = [
    [writes, 'write'],
    [reads, 'read'],
    [deletes, 'delete'],
    [tasks, 'task'],
  ] as const;
  const amountsText = amounts
    .filter(([amount], i) => amount > 0 || i < 2)
    .map(([amount, what]) => `${amount} ${what}${amount === 1 ? '' : 's'}`);
  // Two significant digits: a run costs some hundred-thousandths of a dollar.
  const digits = usd === 0 ? 0 : Math.max(2, 1 - Math.floor(Math.log10(usd)));
  return `${amountsText.join(', ')} · about $${usd.toFixed(digits)}`;
}

function valueText(
  value: unknown,
  ref: { readonly bytes: number; readonly checkpoint: number } | undefined,
  call: string,
): string | undefined {
  if (ref) return `${ref.bytes} bytes, see ${call} runs output … ${ref.checkpoint}`;
  return value === undefined ? undefined : JSON.stringify(value);
}

/** @param run marks failed compensations, and steps that the end of the run stopped */
export function stepTable(steps: readonly Answer<'Step'>[], shape: OutputShape, run?: RunView): string {
  const failedUndos = new Set(
    run?.compensationLog.filter(({ outcome }) => outcome === 'failed').map(({ stepId }) => stepId),
  );
  const undoOf = ({ id, compensated }: Answer<'Step'>) =>
    failedUndos.has(id) ? ', undo failed' : compensated ? ', undone' : '';
  const statusOf = (step: Answer<'Step'>) =>
    run && isOver(run.status) && isOpen(step) ? 'stopped' : step.status;
  const order = ({ checkpoint = Number.POSITIVE_INFINITY }: Answer<'Step'>) => checkpoint;
  const rows = steps.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt) || order(a) - order(b) || 0);
  return table(
    rows,
    [
      { title: 'STEP', of: ({ id }) => id, least: 12 },
      { title: 'KIND', of: ({ kind }) => (kind === 'step' ? '' : kind), dropOrder: 3 },
      {
        title: 'STATUS',
        of: (step) => `${statusOf(step)}${undoOf(step)}`,
        tone: (step) => statusTone(statusOf(step)),
      },
      {
        title: 'TRIES',
        of: ({ attempts }) => (attempts > 1 ? String(attempts) : ''),
        align: 'right',
        dropOrder: 1,
      },
      {
        title: 'REV',
        of: ({ revision }) => (revision > 1 ? String(revision) : ''),
        align: 'right',
        dropOrder: 2,
      },
      { title: 'TOOK', of: stepTook, align: 'right', dropOrder: 2 },
      {
        title: 'CHECKPOINT',
        of: ({ checkpoint }) => (checkpoint === undefined ? '' : String(checkpoint)),
        align: 'right',
        dropOrder: 4,
      },
      { title: 'ASKED FOR AT', of: ({ location }) => location ?? '', dropOrder: 6 },
      {
        title: 'OUTPUT',
        of: ({ errorTrace, outputsSummary }) => errorTrace?.split('\n')[0] ?? outputsSummary ?? '',
        least: 16,
        dropOrder: 5,
      },
    ],
    shape,
  );
}

function stepTook(step: Answer<'Step'>): string {
  if (isOpen(step)) return '';
  // Steps recorded by an earlier version have no duration of their own.
  return duration(step.durationMs ?? Date.parse(step.updatedAt) - Date.parse(step.startedAt));
}

function isOpen({ status }: Answer<'Step'>): boolean {
  return status === 'pending' || status === 'running' || status === 'waiting';
}

/** The open questions of a run. */
interface WaitsShown {
  readonly run: Pick<RunView, 'id' | 'waits'>;
  /** True if decisions are refused because the version of the run is not deployed. */
  readonly isUndecidable: boolean;
}

/** Each open question with the command that answers it, or the reason why no answer is accepted. */
export function waitList(
  { run, isUndecidable }: WaitsShown,
  now: number,
  { style, columns = Number.POSITIVE_INFINITY, call = PLAIN_CALL }: OutputShape,
): string {
  return run.waits
    .map((wait) => {
      const { dueAt, execution } = wait;
      const place =
        execution.location === undefined ? '' : `\n    ${style.dim(`asked for at ${execution.location}`)}`;
      const due = dueAt === undefined ? '' : ` (${ago(dueAt, now)}${lastHeartbeat(wait, now)})`;
      const isRefused = isUndecidable && needsDecision(wait);
      const move = isRefused ? undefined : moveOf(run.id, wait);
      const hint = move === undefined ? '' : hintText(move, columns, call);
      const lines = wrap(`${clean(waitLine(wait) + askedText(wait.detail))}${due}`, columns - INDENT);
      const what = lines.map((line) => `  ${style.paint('warn', line)}`).join('\n');
      return `${what}${place}${style.dim(isRefused ? refusedText(columns) : hint)}\n`;
    })
    .join('');
}

const INDENT = 2;

function refusedText(columns: number): string {
  return wrap(UNDECIDABLE, columns - 2 * INDENT)
    .map((line) => `\n    ${line}`)
    .join('');
}

/** The command and its effect, which goes below it if the terminal is too narrow. */
function hintText(move: Move, columns: number, call: string): string {
  const [command, what] = [`    ${commandOf(move, call)}`, `(${move.what})`];
  return cells(`${command}   ${what}`) > columns ? `\n${command}\n      ${what}` : `\n${command}   ${what}`;
}

function lastHeartbeat({ heartbeat }: RunWait, now: number): string {
  if (!heartbeat) return '';
  return heartbeat.lastAt === undefined
    ? '; no heartbeat yet'
    : `; last heartbeat ${ago(heartbeat.lastAt, now)}`;
}

/** Signals that no step has read. */
export function signalTable(
  signals: readonly Pick<RunView['inbox'][number], 'signalId' | 'name' | 'key' | 'at'>[],
  shape: OutputShape,
): string {
  return table(
    signals,
    [
      { title: 'SIGNAL', of: ({ name }) => name, least: 12 },
      { title: 'KEY', of: ({ key }) => key ?? '', dropOrder: 1 },
      { title: 'SENT', of: ({ at }) => moment(at) },
      { title: 'ID', of: ({ signalId }) => signalId, dropOrder: 2 },
    ],
    shape,
  );
}

/** A command line for a shell. */
export function commandOf({ words }: Move, call: string): string {
  return `${call} ${words.map(quoted).join(' ')}`;
}

/** Quoted for a shell where necessary. */
export function quoted(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${clean(word).replaceAll("'", `'\\''`)}'`;
}

export function section(title: string, body: string, { style }: OutputShape): string {
  return body === '' ? '' : `\n${style.bold(title)}\n\n${body}`;
}

/** Names of the people to ask, after the question. */
function askedText(detail: unknown): string {
  const { to } = Object(detail) as { readonly to?: unknown };
  return Array.isArray(to) ? ` (asked: ${to.join(', ')})` : '';
}
