/**
 * Connects handlers to grpc-js, injects faults, and maps errors to statuses. Independent of the meaning of calls.
 */

import type { Faults, InjectedFault } from '@cairn/local-firestore/faults';
import type { HandlerStatus } from '@cairn/local-kit/rest/json-status';
import { grpcStatusOf } from '@cairn/local-kit/wire/grpc-refusal';
import {
  Metadata,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { PubsubError, unavailable, unimplemented } from '../model/status.ts';
import { trailersWith, withDomain } from '../wire/error-info.ts';
import type { WireStreamingPull } from '../wire/messages.ts';
import { checkSize } from '../wire/protocol.ts';
import type { Broker } from './broker.ts';
import { type Outgoing, StreamingPull } from './streaming-pull.ts';

/** Handlers declare the part of the request they read; the protocol defines the request. */
export type ServiceCalls = Readonly<
  Record<string, (request: never, cancelled: AbortSignal) => object | Promise<object>>
>;

/** Implements every call of the service; those without a handler are UNIMPLEMENTED. */
export function implementation(
  service: ServiceDefinition,
  calls: ServiceCalls,
  faults: Faults,
): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.keys(service).map((name) => {
      const handler =
        calls[name] ??
        (() => {
          throw unimplemented(name);
        });
      return [name, unary(name, handler as ServiceCalls[string], faults)];
    }),
  );
}

type UnaryCall = ServerUnaryCall<object, object>;

function unary(name: string, handler: ServiceCalls[string], faults: Faults) {
  return async (call: UnaryCall, reply: sendUnaryData<object>) => {
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    try {
      checkSize(call.request);
      const fault = faults.draw(name, () => names(call.request));
      await before(fault);
      const answer = await handler(call.request as never, cancelled.signal);
      after(fault, faults);
      reply(null, answer);
    } catch (error) {
      reply(statusOf(error));
    }
  };
}

async function before(fault: InjectedFault | undefined): Promise<void> {
  if (fault?.kind === 'latency') await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault?.kind === 'unavailable') throw unavailable('Injected: the service is unavailable.');
  if (fault?.kind === 'aborted') throw new PubsubError(status.ABORTED, 'Injected: the call was aborted.');
}

function after(fault: InjectedFault | undefined, faults: Faults): void {
  if (fault?.kind === 'crash') faults.crash();
  if (fault?.kind === 'lost-answer') throw unavailable('Injected: the answer was lost.');
}

/** Resource names in which the `path` of a fault rule is searched. */
function names(request: object): string[] {
  const { topic, subscription, name, snapshot, resource } = request as Record<string, unknown>;
  return [topic, subscription, name, snapshot, resource].filter((value) => typeof value === 'string');
}

type Duplex = ServerDuplexStream<WireStreamingPull, object>;

/** A fault affects the opening of a stream; `cut-stream` ends it after a number of responses. */
export function streamingPull(broker: Broker, faults: Faults) {
  return (call: Duplex) => {
    let stream: StreamingPull | undefined;
    let opening: Promise<void> | undefined;
    let over = false;
    const close = () => {
      over = true;
      stream?.close();
    };
    const fail = (error: unknown) => {
      if (over) return;
      close();
      // Headers first: the client treats a stream without them as a lost connection.
      call.sendMetadata(new Metadata());
      call.emit('error', statusOf(error));
    };
    const open = async (request: WireStreamingPull) => {
      const fault = faults.draw('StreamingPull', () => names(request));
      await before(fault);
      after(fault, faults);
      stream = new StreamingPull(broker, outgoing(call, fault, fail));
    };
    call.on('data', (request: WireStreamingPull) => {
      opening ??= open(request);
      opening.then(() => (over ? undefined : stream?.request(request))).catch(fail);
    });
    call.on('end', () => {
      close();
      call.end();
    });
    call.on('cancelled', close);
    call.on('error', close);
  };
}

function outgoing(call: Duplex, fault: InjectedFault | undefined, fail: (error: unknown) => void): Outgoing {
  let left = fault?.kind === 'cut-stream' ? fault.afterMessages : Number.POSITIVE_INFINITY;
  return {
    fail,
    write(response, onDrain) {
      if (call.cancelled || call.destroyed) return false;
      if (left-- <= 0) {
        fail(unavailable('Injected: the stream was cut.'));
        return false;
      }
      const keptUp = call.write(response);
      if (!keptUp) call.once('drain', onDrain);
      return keptUp;
    },
  };
}

/** The details are in the trailers for gRPC, and in `info` for REST. */
function statusOf(error: unknown): HandlerStatus & { readonly metadata?: Metadata } {
  const answer = grpcStatusOf(error, 'Defect in the local Pub/Sub server');
  if (!(error instanceof PubsubError) || !error.info) return answer;
  const { code, message, info } = error;
  return { ...answer, metadata: trailersWith(code, message, info), info: withDomain(info) };
}
