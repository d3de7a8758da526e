/** Reads the large values that the checkpoints of a run reference, while time permits, and reports damaged ones. */
import { CairnError } from '../../core/errors.ts';
import type { DamagedPayload, FoundCheckpoint, FoundDocument } from '../../core/integrity/found.ts';
import { messageOf } from '../../core/thrown.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import { grpcStatusOf } from '../../ports/grpc-outcome.ts';
import type { PayloadStore } from '../../ports/value-store.ts';

/** Large values read back in one check: the amount that an instance can read one by one within its time. */
const MAX_PAYLOAD_BYTES_READ = 64 * 1024 * 1024;

export interface ReadPayloadsDeps extends SendDeps {
  readonly payloads: Pick<PayloadStore, 'readPayload'>;
}

/** Reads one value at a time, because each may have 32 MiB. Values never change, so they need not be read as of one moment. */
export async function readPayloads(
  deps: ReadPayloadsDeps,
  runId: string,
  checkpoints: readonly FoundDocument<FoundCheckpoint>[],
): Promise<{ readonly payloads: readonly DamagedPayload[]; readonly unread: readonly string[] }> {
  const payloads: DamagedPayload[] = [];
  const unread: string[] = [];
  const known = new Map<string, string | undefined>();
  let bytes = 0;
  for (const found of checkpoints) {
    if (found.kind !== 'sound' || !found.value.checkpoint.outputRef) continue;
    const { id } = found;
    const { outputRef: ref } = found.value.checkpoint;
    const name = JSON.stringify(ref);
    if (!known.has(name)) {
      // The recorded length may be damaged too.
      const length = Number.isSafeInteger(ref.bytes) ? ref.bytes : 0;
      if (bytes + length > MAX_PAYLOAD_BYTES_READ) {
        unread.push(id);
        continue;
      }
      bytes += length;
      known.set(name, await damageOf(deps, () => deps.payloads.readPayload(runId, ref)));
    }
    const reason = known.get(name);
    if (reason !== undefined) payloads.push({ id, sha256: ref.sha256, reason });
  }
  return { payloads, unread };
}

/** The reason why a value cannot be read as written. @throws errors of the store */
async function damageOf(deps: SendDeps, read: () => Promise<string>): Promise<string | undefined> {
  try {
    await sendUntilKnown(deps, read);
    return undefined;
  } catch (error) {
    if (error instanceof CairnError || grpcStatusOf(error) !== undefined) throw error;
    return messageOf(error);
  }
}
