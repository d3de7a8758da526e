/**
 * BufferTask: turns a request to a queue into a task with the same method, headers and body, for the target of the queue. REST only, because
 * the clients' protocol descriptions lack the call.
 */
import type { IncomingMessage } from 'node:http';
import { bytesBody } from '@cairn/local-kit/http/json-body';
import { HOP_BY_HOP } from '../dispatch/attempt.ts';
import { failedPrecondition, invalid } from '../errors.ts';
import { urlOfQueue } from '../http-target/override.ts';
import { HTTP_METHODS, type HttpMethod, LIMITS, METHODS_WITH_BODY, type QueueConfig } from '../model.ts';
import { requireQueue } from '../names.ts';
import type { WireTask } from '../validate.ts';

interface BufferOptions {
  queue(name: string): QueueConfig;
  createTask(request: { readonly parent: string; readonly task: WireTask }): object;
}

const PATH =
  /^\/v2(?:beta[23])?\/(projects\/[^/]+\/locations\/[^/]+\/queues\/[^/]+)\/tasks(?:\/([^/]+))?:buffer$/;
/** Headers of the request to Cloud Tasks itself, and those that are set anew for the target. */
const NOT_OF_THE_TASK =
  /^(?:host|content-length|authorization|accept-encoding|expect|user-agent|x-goog-.*)$/i;

/** Resolves with undefined for any other request. @throws GrpcRefusal */
export async function bufferTaskCall(
  request: IncomingMessage,
  path: string,
  { queue, createTask }: BufferOptions,
): Promise<object | undefined> {
  const [, parent, id] = PATH.exec(path) ?? [];
  if (parent === undefined) return undefined;
  const url = urlOfQueue(queue(requireQueue(parent)).httpTarget);
  if (url === undefined) {
    throw failedPrecondition(
      'The queue has no HTTP target: set http_target.uri_override.host of the queue, by UpdateQueue of v2beta3.',
    );
  }
  const body = await bytesBody(request, {
    maxBytes: LIMITS.taskBytes,
    tooLarge: () => invalid(`Task size too large: a task may have ${LIMITS.taskBytes} bytes.`),
  });
  const method = methodOf(request.method);
  const httpRequest = {
    url,
    httpMethod: HTTP_METHODS.indexOf(method),
    headers: headersOf(request),
    ...(METHODS_WITH_BODY.includes(method) && { body }),
  };
  const task = { ...(id !== undefined && { name: `${parent}/tasks/${id}` }), httpRequest };
  return createTask({ parent, task });
}

function methodOf(text = 'POST'): HttpMethod {
  const method = HTTP_METHODS.find((known) => known === text);
  if (method === undefined) throw invalid(`A task cannot have the method ${text}.`);
  return method;
}

/** Joins repeated headers under the first spelling (RFC 9110, 5.3; cookies: RFC 6265, 5.4). */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers = new Map<string, readonly [name: string, value: string]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] ?? '', rawHeaders[i + 1] ?? ''];
    if (HOP_BY_HOP.test(name) || NOT_OF_THE_TASK.test(name)) continue;
    const key = name.toLowerCase();
    const [spelling, before] = headers.get(key) ?? [name];
    const separator = key === 'cookie' ? '; ' : ', ';
    headers.set(key, [spelling, before === undefined ? value : before + separator + value]);
  }
  return Object.fromEntries(headers.values());
}
