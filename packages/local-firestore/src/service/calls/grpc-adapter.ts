/** Connects calls to grpc-js: answers and errors to messages and statuses. Independent of the meaning of calls. */
import type {
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { notImplemented, type ServedCall, servedCall } from '../served-calls.ts';
import { serveWrite } from '../write-stream/grpc-write.ts';
import type { CallContext } from './call.ts';
import { sendAll } from './drained.ts';
import { serveListen } from './grpc-listen.ts';
import { refuse, toStatus } from './grpc-outcome.ts';

export function implementation(
  service: ServiceDefinition,
  context: CallContext,
): UntypedServiceImplementation {
  const calls: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(service)) {
    const served = servedCall(name);
    if (name === 'Listen') calls[name] = serveListen(context);
    else if (name === 'Write') calls[name] = serveWrite(context);
    else if (served?.kind === 'unary') calls[name] = serveUnary(served, context);
    else if (served?.kind === 'stream') calls[name] = serveStream(served, context);
    else calls[name] = method.responseStream ? refuseStream(name) : refuseUnary(name);
  }
  return calls;
}

function serveUnary(served: ServedCall & { kind: 'unary' }, context: CallContext) {
  return async (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => {
    try {
      callback(null, await served.answer(call.request, context));
    } catch (error) {
      callback(toStatus(error));
    }
  };
}

function serveStream(served: ServedCall & { kind: 'stream' }, context: CallContext) {
  return async (call: ServerWritableStream<object, object>) => {
    try {
      await sendAll(call, await served.answer(call.request, context));
    } catch (error) {
      refuse(call, toStatus(error));
    }
  };
}

function refuseUnary(name: string) {
  return (_call: unknown, callback: sendUnaryData<object>) => callback(toStatus(notImplemented(name)));
}

function refuseStream(name: string) {
  return (call: ServerWritableStream<unknown, object>) => {
    refuse(call, toStatus(notImplemented(name)));
  };
}
