/** The documents and collections a request names, for rules that apply to some paths only. */
import { decodeName } from '../../wire/document-codec.ts';
import type { WireWrite } from '../../wire/write-codec.ts';

interface AnyRequest {
  readonly name?: string;
  readonly parent?: string;
  readonly collectionId?: string;
  readonly document?: Uint8Array | null;
  readonly documents?: readonly string[];
  readonly writes?: readonly WireWrite[];
  readonly structuredQuery?: WireFrom | null;
  readonly addTarget?: {
    readonly query?: AnyRequest | null;
    readonly documents?: AnyRequest | null;
  } | null;
  readonly structuredAggregationQuery?: { readonly structuredQuery?: WireFrom | null } | null;
}

interface WireFrom {
  readonly from?: readonly { readonly collectionId?: string | null }[] | null;
}

export function requestPaths(request: unknown): string[] {
  const { name, parent, collectionId, document, documents, writes, ...rest } = request as AnyRequest;
  const paths: string[] = [];
  for (const target of [rest.addTarget?.query, rest.addTarget?.documents]) {
    if (target) paths.push(...requestPaths(target));
  }
  if (name) paths.push(name);
  if (document?.length) paths.push(decodeName(document));
  paths.push(...(documents ?? []), ...(writes ?? []).map(pathOf));
  const query = rest.structuredQuery ?? rest.structuredAggregationQuery?.structuredQuery;
  const collections = query ? (query.from ?? []).map((f) => f.collectionId ?? '') : [collectionId ?? ''];
  if (parent) for (const id of collections) paths.push(`${parent}/${id}`);
  return paths;
}

function pathOf(write: WireWrite): string {
  return (
    write.delete ||
    write.verify ||
    write.transform?.document ||
    (write.update ? decodeName(write.update) : '')
  );
}
