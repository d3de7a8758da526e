/** Rebuilds the first event of a run from the state and the id of the event, which have all its data, instead of reading it. */
import { shardOf } from '../encoding/ids.ts';
import { emptyChain, seal } from './chain.ts';
import type { RunEvent, RunIdentity, Trigger } from './events.ts';
import type { RunState } from './state.ts';
import { NO_IDENTITY } from './state-shape.ts';
import type { Initiator } from './status.ts';

function initiatorOf({ source, userId }: Trigger): Initiator {
  if (source === 'webhook') return 'webhook';
  return userId ? 'user' : 'system';
}

/** The event with that id, if the hash matches; otherwise undefined, and the event must be read. */
export function firstEventOf(state: RunState, id: string, hash: string): RunEvent | undefined {
  // A missing member would change the hash, and the event would be read.
  const members = Object.entries(state).filter(
    ([name, value]) =>
      value !== undefined &&
      Object.hasOwn(NO_IDENTITY, name) &&
      (name !== 'shard' || value !== shardOf(state.id)),
  );
  const data = Object.fromEntries(members) as unknown as RunIdentity;
  const { userId } = data.trigger;
  const event = seal(
    { type: 'run_created', initiator: initiatorOf(data.trigger), data, actor: userId },
    { chain: emptyChain(state.id), id, now: state.createdAt },
  );
  return event.hash === hash ? event : undefined;
}
