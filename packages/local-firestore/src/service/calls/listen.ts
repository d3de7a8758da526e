/** Listen: passes the requests of a client's stream to its listener. */
import { toMicros, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { parseDatabase, parseDocument } from '../../model/resource-name.ts';
import { invalid, StatusError } from '../../model/status.ts';
import { decodeQuery, type WireQuery } from '../../wire/query-codec.ts';
import { Listener, type TargetRequest } from '../listen/listener.ts';
import { decodeResumeToken } from '../listen/resume-token.ts';
import type { TargetScope } from '../listen/target.ts';
import type { CallContext } from './call.ts';

interface WireTarget {
  readonly targetId: number;
  readonly once: boolean;
  readonly targetType?: 'query' | 'documents';
  readonly query?: { readonly parent: string; readonly structuredQuery?: WireQuery | null } | null;
  readonly documents?: { readonly documents: readonly string[] } | null;
  readonly resumeType?: 'resumeToken' | 'readTime';
  readonly resumeToken?: Uint8Array | null;
  readonly readTime?: WireTimestamp | null;
  readonly expectedCount?: { readonly value?: number | null } | null;
}

export interface ListenRequest {
  readonly database: string;
  readonly targetChange?: 'addTarget' | 'removeTarget';
  readonly addTarget?: WireTarget | null;
  readonly removeTarget?: number;
}

interface ListenAnswers {
  readonly send: (message: object) => Promise<void> | undefined;
  readonly fail: (error: unknown) => void;
}

/** Most names of a documents target, because every commit is compared with each. */
const MAX_DOCUMENTS = 1_000;

/** One stream, from its first request on. */
export class ListenCall {
  readonly #database: string;
  readonly #listener: Listener;
  /** True once a target had no id; from then on the server chooses all ids. */
  #choosesIds = false;

  /** @throws INVALID_ARGUMENT for an invalid database name */
  constructor(first: ListenRequest, { store, meter }: CallContext, answers: ListenAnswers) {
    this.#database = parseDatabase(first.database);
    const database = store.databases.get(this.#database);
    this.#listener = new Listener({
      ...answers,
      database,
      meter,
      durable: () => store.storage.durable(),
    });
  }

  /** @throws INVALID_ARGUMENT for a request without a target, because then no target can be refused */
  take({ database, targetChange, addTarget, removeTarget }: ListenRequest): void {
    if (database !== '' && database !== this.#database)
      throw invalid('All requests of a stream must be for the same database.');
    if (targetChange === 'removeTarget') {
      this.#listener.remove(removeTarget ?? 0);
      return;
    }
    if (!addTarget) throw invalid('A Listen request must add or remove a target.');
    const { targetId: id } = addTarget;
    if (id < 0) throw invalid(`A target id must not be negative: ${id}.`);
    if (id === 0) this.#choosesIds = true;
    try {
      if (id !== 0 && this.#choosesIds)
        throw invalid(`Target ${id} has an id, but an earlier target had none.`);
      this.#listener.add(this.#decode(addTarget));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#listener.refuse(id, error);
    }
  }

  close(): void {
    this.#listener.close();
  }

  #decode(wire: WireTarget): TargetRequest {
    return {
      id: wire.targetId,
      once: wire.once,
      scope: this.#scope(wire),
      since: since(wire),
      expectedCount: wire.expectedCount ? (wire.expectedCount.value ?? 0) : undefined,
    };
  }

  #scope({ targetType, query, documents }: WireTarget): TargetScope {
    if (targetType === 'documents') {
      const names = [...new Set(documents?.documents ?? [])];
      if (names.length === 0) throw invalid('A documents target must name at least one document.');
      if (names.length > MAX_DOCUMENTS)
        throw invalid(`A documents target can name at most ${MAX_DOCUMENTS} documents.`);
      const addresses = names.map((name) => ({
        name,
        segments: parseDocument(name, this.#database).segments,
      }));
      return { kind: 'documents', documents: addresses };
    }
    if (!query?.structuredQuery) throw invalid('A target must be documents or a structured query.');
    if (!query.structuredQuery.from?.length) throw invalid('A query to listen to needs a "from" clause.');
    const decoded = decodeQuery(query.parent, query.structuredQuery);
    if (decoded.scope.database !== this.#database)
      throw invalid(`"${query.parent}" is not in the database of the request, "${this.#database}".`);
    if (decoded.select) throw invalid("'select' clauses are not supported for real-time queries.");
    return { kind: 'query', query: decoded };
  }
}

function since({ resumeType, resumeToken, readTime }: WireTarget): TargetRequest['since'] {
  if (resumeType === 'readTime') return { time: toMicros(readTime ?? {}), incarnation: undefined };
  if (resumeType !== 'resumeToken' || !resumeToken?.length) return undefined;
  return decodeResumeToken(resumeToken) ?? 'unknown';
}
