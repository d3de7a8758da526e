/** `GET /v1/openapi.json` and `GET /v1/docs`: the documentation of the API. Public, because it is the same for everybody. */
import { openApi } from '../../openapi/document.ts';
import { htmlOf, PAGE_POLICY } from '../../openapi/page.ts';

/** It changes only with a deployment. */
const CACHE = 'public, max-age=300';
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  'referrer-policy': 'no-referrer',
};

/** Made on first use, so that a cold start does not wait for it. */
export class ApiDocument {
  readonly #version: string;
  #json: string | undefined;
  #page: string | undefined;

  /** @param version of the deployed functions */
  constructor(version: string) {
    this.#version = version;
  }

  json(): Response {
    this.#json ??= JSON.stringify(openApi(this.#version));
    return answer(this.#json, { 'content-type': 'application/json' });
  }

  page(): Response {
    this.#page ??= htmlOf(openApi(this.#version));
    return answer(this.#page, PAGE_HEADERS);
  }
}

function answer(body: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(body, {
    headers: { ...headers, 'cache-control': CACHE, 'x-content-type-options': 'nosniff' },
  });
}
