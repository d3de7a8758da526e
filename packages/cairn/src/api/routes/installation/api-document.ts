/** `GET /v1/openapi.json` and `GET /v1/docs`: the documentation of the API. Public, because it is the same for all callers. */
import type { OpenApi } from '../../openapi/document.ts';

/** The document changes only with a deployment. */
const CACHE = 'public, max-age=300';
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
};

/** Created on first use, with the schemas of responses, so that a cold start does not load them. */
export class ApiDocument {
  readonly #version: string;
  #json: string | undefined;
  #page: string | undefined;

  /** @param version of the deployed functions */
  constructor(version: string) {
    this.#version = version;
  }

  async json(): Promise<Response> {
    this.#json ??= JSON.stringify(await this.#document());
    return answer(this.#json, { 'content-type': 'application/json' });
  }

  async page(): Promise<Response> {
    const { htmlOf, PAGE_POLICY } = await import('../../openapi/page.ts');
    this.#page ??= htmlOf(await this.#document());
    return answer(this.#page, { ...PAGE_HEADERS, 'content-security-policy': PAGE_POLICY });
  }

  async #document(): Promise<OpenApi> {
    const { openApi } = await import('../../openapi/document.ts');
    return openApi(this.#version);
  }
}

function answer(body: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(body, {
    headers: { ...headers, 'cache-control': CACHE, 'x-content-type-options': 'nosniff' },
  });
}
