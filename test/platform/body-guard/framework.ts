/**
 * The process in which Google runs a function: its functions framework, which inflates and parses bodies of up to 1,024 MB before it
 * calls the function. The function here returns the number of bytes and the type that it got.
 */
import type { AddressInfo } from 'node:net';
import { http, type Request, type Response } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import '../../../functions/src/index.ts';
import { contentTypeOf, guardFunctions } from '../../../packages/cairn/src/platform/body-guard.ts';

const { FUNCTION_TARGET: target = '' } = process.env;
/** Middleware of the app that reads the header as it was sent. */
const OF_APP = 'mcp';
guardFunctions(OF_APP);

http(target, (request: Request, response: Response) => {
  const { rawBody } = request;
  const isParsed = request.body !== undefined && !Buffer.isBuffer(request.body);
  const type = target === OF_APP ? request.headers['content-type'] : contentTypeOf(request);
  response.json({ bytes: rawBody?.length ?? 0, type, isParsed });
});
const server = getTestServer(target);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
