/**
 * State of a write stream between connections of its client: its progress, and unacknowledged responses. Owns the order
 * of its writes; applies none.
 */
import { randomUUID } from 'node:crypto';
import { Code, invalid, StatusError } from '../../model/status.ts';

/** Most unacknowledged responses. Production's limit is not documented; that of the clients is 10. */
const MAX_UNACKNOWLEDGED = 1_000;
/** Most streams; the oldest is dropped first. */
const MAX_STREAMS = 200;

interface UnacknowledgedResponse {
  readonly position: number;
  readonly answer: object;
}

export class WriteLog {
  readonly id: string = randomUUID();
  /** `projects/{p}/databases/{d}` */
  readonly database: string;
  #position = 0;
  #acknowledged = 0;
  #unacknowledged: UnacknowledgedResponse[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  #holder: object | undefined;

  constructor(database: string) {
    this.database = database;
  }

  /** Assigns the stream to a connection, and takes it from the previous one. */
  hold(connection: object): void {
    this.#holder = connection;
  }

  isHeldBy(connection: object): boolean {
    return this.#holder === connection;
  }

  /** Runs tasks of all connections one after the other. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Position after all acknowledged responses, from which the client can continue. */
  get token(): Buffer {
    return this.#tokenAt(this.#acknowledged);
  }

  /** Position after all responses. */
  get newestToken(): Buffer {
    return this.#tokenAt(this.#position);
  }

  /** @throws INVALID_ARGUMENT for a token of another stream, or older than an acknowledged one */
  acknowledge(token: Uint8Array): void {
    const [id, position] = Buffer.from(token).toString().split(' ');
    const at = Number(position);
    if (id !== this.id || !Number.isSafeInteger(at) || at < this.#acknowledged || at > this.#position) {
      throw invalid('The stream token is not the last one of this write stream.');
    }
    this.#acknowledged = at;
    this.#unacknowledged = this.#unacknowledged.filter((k) => k.position > at);
  }

  /** @throws RESOURCE_EXHAUSTED when the client must acknowledge first */
  checkRoom(): void {
    if (this.#unacknowledged.length < MAX_UNACKNOWLEDGED) return;
    throw new StatusError(
      Code.RESOURCE_EXHAUSTED,
      `More than ${MAX_UNACKNOWLEDGED} answers of this write stream are not acknowledged.`,
    );
  }

  /** Records the result of a write request. Returns it as the response, with its token. */
  record(outcome: object): object {
    const position = ++this.#position;
    const answer = { ...outcome, streamToken: this.#tokenAt(position) };
    this.#unacknowledged.push({ position, answer });
    return answer;
  }

  get unacknowledged(): readonly object[] {
    return this.#unacknowledged.map(({ answer }) => answer);
  }

  #tokenAt(position: number): Buffer {
    return Buffer.from(`${this.id} ${position}`);
  }
}

/** The resumable write streams of one server. They end with the process. */
export class WriteLogs {
  readonly #logs = new Map<string, WriteLog>();

  begin(database: string): WriteLog {
    const log = new WriteLog(database);
    this.#logs.set(log.id, log);
    if (this.#logs.size > MAX_STREAMS) this.#logs.delete(this.#logs.keys().next().value as string);
    return log;
  }

  /** @throws NOT_FOUND for an unknown stream */
  get(id: string, database: string): WriteLog {
    const log = this.#logs.get(id);
    if (log?.database === database) return log;
    throw new StatusError(Code.NOT_FOUND, `No write stream "${id}" to resume. Open a new one.`);
  }
}
