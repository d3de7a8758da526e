/** Converts the requests and answers of one call between JSON and the messages of its gRPC handler. */

import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { fromJson, toJson } from '../wire/proto-json.ts';
import { fieldsMask, kept } from './answer-form.ts';

export interface JsonCall {
  /** @throws JsonShapeError if the JSON does not match the call's request */
  request(json: unknown): object;
  /**
   * @param query may request a part of each answer
   * @throws JsonShapeError if the answer cannot have the requested form
   */
  answersIn(query?: URLSearchParams): (message: object) => unknown;
}

/**
 * Undefined if the protocol has no such call.
 *
 * @param protocol the complete protocol description
 * @param service the same service for gRPC
 */
export function jsonCall(
  name: string,
  protocol: protobuf.Service,
  service: ServiceDefinition,
): JsonCall | undefined {
  const method = protocol.methods[name];
  const definition = service[name];
  if (!method || !definition) return undefined;
  const requestType = method.resolvedRequestType as protobuf.Type;
  const answerType = method.resolvedResponseType as protobuf.Type;
  return {
    request(json) {
      const bytes = requestType.encode(requestType.fromObject(fromJson(requestType, json))).finish();
      return definition.requestDeserialize(Buffer.from(bytes)) as object;
    },
    answersIn(query) {
      const mask = query && fieldsMask(answerType, query);
      return (message) => {
        const json = toJson(answerType, answerType.decode(definition.responseSerialize(message)));
        return mask ? kept(json, mask) : json;
      };
    },
  };
}
