/** Write: one connection of a write stream, whose writes are applied and answered in order. */
import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import { parseDatabase } from '../../model/resource-name.ts';
import { Code, invalid, StatusError } from '../../model/status.ts';
import { decodeWrite, type WireWrite } from '../../wire/write-codec.ts';
import type { CallContext } from '../calls/call.ts';
import { encodeOutcome } from '../calls/write.ts';
import { meterCommit } from '../metering.ts';
import type { WriteLog, WriteLogs } from './write-log.ts';

export interface WriteRequest {
  readonly database: string;
  readonly streamId: string;
  readonly writes: readonly WireWrite[];
  readonly streamToken: Uint8Array;
}

interface WriteAnswers {
  readonly answers: readonly object[];
  /** True if the stream ends after these responses. */
  readonly isLast: boolean;
}

export class WriteCall {
  readonly #context: CallContext;
  readonly #logs: WriteLogs;
  #log: WriteLog | undefined;

  constructor(context: CallContext, logs: WriteLogs) {
    this.#context = context;
    this.#logs = logs;
  }

  /** The response to the first request has the stream's id; that to the last one, which has no writes, only a token. */
  async take(request: WriteRequest): Promise<WriteAnswers> {
    const log = this.#log;
    if (!log) return { answers: await this.#open(request), isLast: false };
    if (request.database !== '' && request.database !== log.database)
      throw invalid('All requests of a stream must be for the same database.');
    if (request.streamId !== '') throw invalid('stream_id may only be set in the first request of a stream.');
    if (request.streamToken.length > 0) log.acknowledge(request.streamToken);
    if (request.writes.length === 0)
      return log.inTurn(async () => ({ answers: [{ streamToken: log.newestToken }], isLast: true }));
    const writes = request.writes.map((write) => decodeWrite(write, log.database));
    return log.inTurn(async () => {
      // Another connection has resumed the stream without this write, so it must not be applied.
      if (!log.isHeldBy(this)) throw new StatusError(Code.ABORTED, 'The stream was resumed elsewhere.');
      log.checkRoom();
      const { store, meter } = this.#context;
      const plan = await store.commit(store.databases.get(log.database), writes, undefined);
      meterCommit('Write', plan, meter);
      const outcome = {
        writeResults: plan.outcomes.map(encodeOutcome),
        commitTime: fromMicros(plan.time),
      };
      return { answers: [log.record(outcome)], isLast: false };
    });
  }

  async #open({ database, streamId, streamToken, writes }: WriteRequest): Promise<readonly object[]> {
    const name = parseDatabase(database);
    if (writes.length > 0) throw invalid('The first request of a write stream must not contain writes.');
    if (streamId === '') {
      if (streamToken.length > 0) throw invalid('A stream token requires its stream_id.');
      const log = this.#hold(this.#logs.begin(name));
      return [{ streamId: log.id, streamToken: log.token }];
    }
    if (streamToken.length === 0) throw invalid('Resuming a stream requires a stream token.');
    const log = this.#logs.get(streamId, name);
    log.acknowledge(streamToken);
    this.#hold(log);
    // The responses of writes that the previous connection started are sent here; its other writes are never applied.
    return log.inTurn(async () => [{ streamToken: log.token }, ...log.unacknowledged]);
  }

  #hold(log: WriteLog): WriteLog {
    log.hold(this);
    this.#log = log;
    return log;
  }
}
