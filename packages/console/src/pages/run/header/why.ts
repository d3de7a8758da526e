/** Why a run is as it is, in a sentence or two for who has just come. Pure. */
import type { Run } from '../live/events.ts';
import type { Doing } from './doing.ts';

type Facts = Pick<
  Run,
  | 'status'
  | 'stopKind'
  | 'waits'
  | 'parked'
  | 'blocked'
  | 'error'
  | 'cancellation'
  | 'suspension'
  | 'compensating'
  | 'resumeCount'
  | 'interruptions'
  | 'dueAt'
  | 'wakeAt'
  | 'steps'
  | 'source'
  | 'lease'
  | 'running'
  | 'leaseWait'
>;

export interface Why {
  readonly text: string;
  /** When what is told of will be, or gives up; ISO. */
  readonly until?: string | undefined;
  /** What to do about it. */
  readonly help?: string | undefined;
}

/** @param doing what its steps tell; without it, the run alone does */
export function whyOf(run: Facts, doing: Doing = NOTHING_KNOWN): Why | undefined {
  const { status, source, suspension, cancellation } = run;
  if (suspension && !cancellation) return whySuspended(suspension, run.lease !== undefined);
  switch (status) {
    case 'pending':
      return { text: 'It has been taken in, and a worker is to begin with it.', until: run.wakeAt };
    case 'running':
      return whyMoving(run, doing);
    case 'replaying':
      if (run.blocked) return { text: run.blocked.message, help: run.blocked.help };
      return { text: `It takes over what ${source?.runId ?? 'its source'} had completed.` };
    case 'awaiting_approval':
    case 'waiting_external':
      return whyWaiting(run);
    case 'interrupted':
      return {
        text: 'Its worker died in the middle. It goes on by itself as soon as that is judged.',
        until: run.wakeAt,
      };
    case 'failed':
      return { text: 'It ended with an error:', help: run.error && helpFor(run.error.code) };
    case 'cancelled':
      return { text: whyCancelled(run) };
    default:
      return undefined;
  }
}

const NOTHING_KNOWN: Doing = { working: [], trying: [] };
/** More names than these say less. */
const MOST_NAMED = 2;

function whyMoving(run: Facts, { working, trying }: Doing): Why {
  const { compensating, cancellation, lease, dueAt, steps, resumeCount, running } = run;
  const back = resumeCount > 0 ? ` It was interrupted and came back ${times(resumeCount)}.` : '';
  if (compensating) {
    const undone = running.find(({ undoes }) => undoes)?.step;
    const now = undone === undefined ? '' : `, now ${undone}`;
    return { text: `It is being undone: what it had completed is taken back${now}.${back}` };
  }
  if (cancellation) return { text: `It has been asked to end, and does so at its next step.${back}` };
  if (lease) {
    const wait = leaseWaitText(run, working);
    return {
      text: `Drive ${lease.epoch} works on ${named(working)}.${back}${wait}`,
      ...(wait && { until: run.leaseWait?.until }),
    };
  }
  const polling = trying.filter(({ polls, attempt }) => polls === attempt).length;
  if (polling > 0 && polling === steps.retrying)
    return { text: `It polls, and the condition does not hold yet.${back}`, until: dueAt };
  if (steps.retrying === 1) return { text: `A step failed and is tried again.${back}`, until: dueAt };
  if (steps.retrying > 1)
    return { text: `${steps.retrying} steps failed and are tried again.${back}`, until: dueAt };
  return { text: `No worker has it at the moment; the next one is on its way.${back}`, until: dueAt };
}

function whySuspended({ actor, reason }: NonNullable<Facts['suspension']>, isDriven: boolean): Why {
  const by = actor === undefined ? '' : ` by ${actor}`;
  const text = isDriven ? 'Steps under way end, and no other is started' : 'No step of it is started';
  return { text: `It is suspended${by}: ${reason}. ${text}.`, help: 'Continue it when the reason is gone.' };
}

/** The facts of the answer may be out of date: later events say which steps are under way. */
function leaseWaitText({ leaseWait }: Facts, working: readonly string[]): string {
  const isPast = working.length > 0 && !leaseWait?.steps.some((step) => working.includes(step));
  if (!leaseWait || (isPast && leaseWait.steps.length > 0)) return '';
  return ` If its worker died, it waits for its lease, because ${leaseWait.why}:`;
}

function named(working: readonly string[]): string {
  if (working.length === 0) return 'it';
  const more = working.length - MOST_NAMED;
  return `${working.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What a run is parked for is an error code where the installation lacks something. */
function whyWaiting({ parked, blocked, waits }: Facts): Why {
  if (blocked !== undefined) return { text: blocked.message, help: blocked.help };
  if (parked !== undefined) return { text: `It is parked: ${parked}.`, help: helpFor(parked) };
  const people = waits.filter(({ kind }) => kind === 'approval').length;
  if (people > 0)
    return {
      text:
        people === 1 ? 'It waits for the answer of a person.' : `It waits for ${people} answers of people.`,
    };
  const [first, ...others] = waits;
  if (!first) return { text: 'It waits.' };
  const what = { approval: 'an answer', event: 'an event', timer: 'a time', child: 'another run' }[
    first.kind
  ];
  return { text: others.length === 0 ? `It waits for ${what}.` : `It waits for ${waits.length} things.` };
}

function whyCancelled({ stopKind, cancellation }: Facts): string {
  const by = cancellation?.actor === undefined ? '' : ` by ${cancellation.actor}`;
  const why = cancellation?.reason === undefined ? '' : `: ${cancellation.reason}`;
  switch (stopKind) {
    case 'halt':
      return `It was halted${by || ' by a person'}${why}.`;
    case 'policy':
      return `A policy stopped it${why}.`;
    case 'system':
      return `The installation ended it${why}.`;
    default:
      return `It was cancelled${by}${why}.`;
  }
}

/** Signals that nobody read, of a run that has ended. */
export function unreadText(inbox: readonly { readonly name: string }[]): string {
  const names = [...new Set(inbox.map(({ name }) => name))];
  const more = names.length > MOST_NAMED ? ' …' : '';
  const signals = inbox.length === 1 ? '1 signal was' : `${inbox.length} signals were`;
  return `${signals} never read: ${names.slice(0, MOST_NAMED).join(', ')}${more}. A successor can take ${inbox.length === 1 ? 'it' : 'them'} over.`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

const HELP: Readonly<Record<string, string>> = {
  RUN_ORPHANED: 'Look at the step that was under way, then resume the run: that makes a successor.',
  RUN_RESUME_FAILED:
    'It was interrupted again and again at the same place. The preview of a resume says what stands in the way.',
  PLAN_VERSION_UNAVAILABLE:
    'Deploy that version of the workflow again, or fork the run to one that is deployed.',
  PLAN_CHANGED:
    'Deploy that version as it was, beside the new definition under the next version; the run goes on by itself then.',
  EFFECT_IN_DOUBT: 'Find out at the receiver whether the action took place, and say so under Effects.',
  EFFECT_REQUEST_MISMATCH: 'Fork the run if the other request is meant, or restore the first one.',
  PAYLOAD_TOO_LARGE: 'Store what is large elsewhere and pass a reference to it.',
  APPROVAL_REJECTED: 'A person said no. Resume the run to ask again.',
  APPROVAL_EXPIRED: 'Nobody answered in time. Resume the run to be asked again.',
};

/** Of any code: a workflow has its own. */
export function helpFor(code: string): string {
  return Object.hasOwn(HELP, code)
    ? (HELP[code] ?? '')
    : 'When the cause is gone, resume the run: a successor goes on from its last checkpoint.';
}
