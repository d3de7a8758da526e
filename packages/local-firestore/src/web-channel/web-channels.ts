/**
 * Serves Listen and Write to clients in browsers, which cannot use gRPC, by WebChannels over HTTP/1.1. Owns the set of channels.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { textBody } from '@cairn/local-kit/http/json-body';
import { jsonCall } from '@cairn/local-kit/rest/json-call';
import type { handleBidiStreamingCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { Code, StatusError } from '../model/status.ts';
import { BODY } from '../rest/body.ts';
import { ChannelStream } from './channel-stream.ts';
import { WebChannel } from './web-channel.ts';
import { forwardedMessages, framedArrays, withLength } from './wire.ts';

interface WebChannelOptions {
  readonly protocol: protobuf.Service;
  readonly service: ServiceDefinition;
  readonly calls: UntypedServiceImplementation;
}

const PATH = /^\/google\.firestore\.v1\.Firestore\/(Listen|Write)\/channel$/;
/** A browser tab has two, so this is far more than one machine opens. */
const MAX_CHANNELS = 1000;
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'private, max-age=0',
  'x-content-type-options': 'nosniff',
};

export class WebChannels {
  readonly #options: WebChannelOptions;
  readonly #channels = new Map<string, WebChannel>();

  constructor(options: WebChannelOptions) {
    this.#options = options;
  }

  /** Resolves with false if the path is not that of a channel. @throws StatusError */
  async serve(url: URL, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const name = PATH.exec(url.pathname)?.[1];
    if (name === undefined) return false;
    const { searchParams: query } = url;
    const id = query.get('SID');
    const channel = id === null ? this.#open(name) : this.#channels.get(id);
    // A client that gets this text opens a new channel.
    if (!channel) {
      response.writeHead(400, HEADERS).end('Error: Unknown SID');
      return true;
    }
    channel.acknowledge(Number(query.get('AID') ?? 0));
    if (query.get('TYPE') === 'terminate') {
      channel.close();
      response.writeHead(200, HEADERS).end();
    } else if (query.get('RID') === 'rpc') {
      response.writeHead(200, HEADERS);
      channel.openBack(response, query.get('CI') === '1');
    } else {
      channel.take(forwardedMessages(new URLSearchParams(await textBody(request, BODY))));
      response.writeHead(200, HEADERS);
      response.end(
        id === null ? framedArrays([channel.greeting]) : withLength(JSON.stringify(channel.progress)),
      );
    }
    return true;
  }

  #open(name: string): WebChannel {
    if (this.#channels.size >= MAX_CHANNELS)
      throw new StatusError(Code.RESOURCE_EXHAUSTED, `More than ${MAX_CHANNELS} web channels are open.`);
    const { protocol, service, calls } = this.#options;
    const messages = jsonCall(name, protocol, service);
    if (!messages) throw new StatusError(Code.NOT_FOUND, `The protocol has no call ${name}.`);
    const handler = calls[name] as handleBidiStreamingCall<object, object>;
    const channel = new WebChannel(
      (answers) => new ChannelStream(handler, messages, answers),
      ({ id }) => this.#channels.delete(id),
    );
    this.#channels.set(channel.id, channel);
    return channel;
  }
}
