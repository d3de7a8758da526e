/**
 * Signals one run: answers a step that waits for an event of that name, or buffers the signal in the run for the first step
 * that will wait for it. One pure decision, one append.
 */

import { CairnError } from '../../core/errors.ts';
import { MAX_EVENT_KEY_CHARS, MAX_EVENT_NAME_CHARS } from '../../core/mailbox/limits.ts';
import { hasRoom, MAX_UNREAD_BYTES, MAX_UNREAD_SIGNALS } from '../../core/run/data/unread-signals.ts';
import type { EventDraft } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import {
  type Answering,
  answersOn,
  type DeliveredData,
  waitsAnsweredBy,
} from '../../engine/mailbox/event-answers.ts';
import type { OfferDeps } from '../../engine/mailbox/offer.ts';
import { appendToRun, type RunOfTenant } from '../append-to-run.ts';
import { assertNotEnding, assertText, dataTextOf } from './checked-event.ts';

/** Largest data of a buffered signal. */
export const MAX_EARLY_SIGNAL_BYTES = 16 * 1024;

export interface SignalRequest extends RunOfTenant {
  readonly name: string;
  /** Absent: the key of the waiting step does not matter. */
  readonly key?: string | undefined;
  /** Any JSON value: up to 256 KiB if a step waits for it, otherwise 16 KiB. */
  readonly data?: unknown;
  /** The same for every attempt to send one signal. */
  readonly signalId: string;
  readonly actor?: string | undefined;
}

export interface Signalled {
  readonly runId: string;
  readonly signalId: string;
  /** `taken_in`: a step received it. `kept`: it is buffered for a later step. */
  readonly outcome: 'taken_in' | 'kept';
}

/**
 * The data in its stored form; checks the signal before anything is read or written.
 *
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE
 */
export function signalDataText({ name, key, data }: Pick<SignalRequest, 'name' | 'key' | 'data'>): string {
  assertText('name', name, MAX_EVENT_NAME_CHARS);
  if (key !== undefined) assertText('key', key, MAX_EVENT_KEY_CHARS);
  return dataTextOf(data);
}

/**
 * @throws CairnError INVALID_INPUT (also: the waiting step refuses the data), PAYLOAD_TOO_LARGE, RATE_LIMITED (the buffer is
 * full), RUN_NOT_FOUND, RUN_TERMINAL_STATE, PLAN_VERSION_UNAVAILABLE, UNAVAILABLE (send the same again)
 */
export async function signalRun(deps: OfferDeps, request: SignalRequest): Promise<Signalled> {
  const { runId, tenantId, name, key, signalId, actor } = request;
  const dataText = signalDataText(request);
  const delivered: DeliveredData = {
    id: signalId,
    dataText,
    initiator: actor === undefined ? 'system' : 'user',
    actor,
  };
  const appended = await appendToRun(deps, {
    runId,
    tenantId,
    decide: (state, now) => signalDrafts(state, { registry: deps.registry, name, key, data: delivered, now }),
  });
  await driveAfter(deps, appended);
  const { state, events } = appended;
  const outcome = state.unread.some((signal) => signal.signalId === signalId) ? 'kept' : 'taken_in';
  if (events.length > 0) deps.log.info('run_signalled', { runId, tenantId, name, outcome });
  return { runId, signalId, outcome };
}

interface Signalling extends Pick<SignalRequest, 'name' | 'key'>, Omit<Answering, 'waits'> {}

/**
 * Events of the signal; empty if the journal already has it. Pure.
 *
 * @throws CairnError
 */
function signalDrafts(state: RunState, { name, key, ...delivery }: Signalling): readonly EventDraft[] {
  const { data: delivered } = delivery;
  if (state.received.includes(delivered.id)) return [];
  assertNotEnding(state, 'accepts no more signals');
  const waits = waitsAnsweredBy(state, name, key);
  let first: CairnError | undefined;
  // Only the step that has waited longest receives it, as with buffered signals.
  for (const wait of waits) {
    const { drafts, refused } = answersOn(state, { ...delivery, waits: [wait] });
    if (drafts.length > 0) return drafts;
    first ??= refused;
  }
  if (first) throw first;
  assertRoomFor(state, delivered.dataText);
  return [
    {
      type: 'signal_received',
      initiator: delivered.initiator,
      actor: delivered.actor,
      data: { signalId: delivered.id, name, key, payloadText: delivered.dataText },
    },
  ];
}

/** @throws CairnError PAYLOAD_TOO_LARGE, RATE_LIMITED */
function assertRoomFor({ unread }: RunState, dataText: string): void {
  const bytes = Buffer.byteLength(dataText);
  if (bytes > MAX_EARLY_SIGNAL_BYTES) {
    throw new CairnError(
      'PAYLOAD_TOO_LARGE',
      `no step waits for the signal yet, and 'data' has ${bytes} bytes; the most for a buffered signal is ${MAX_EARLY_SIGNAL_BYTES}`,
      {
        field: 'data',
        help: 'Send it when the run waits for it, with a new idempotency key, or send a reference to the data.',
      },
    );
  }
  if (hasRoom(unread, dataText)) return;
  throw new CairnError('RATE_LIMITED', `the run has ${unread.length} unread signals, the most allowed`, {
    details: { signals: unread.length, maxSignals: MAX_UNREAD_SIGNALS, maxBytes: MAX_UNREAD_BYTES },
    help: 'Send it again after a step has read the buffered signals.',
  });
}
