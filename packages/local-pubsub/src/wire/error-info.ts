/** Encodes an error's details for gRPC: a `google.rpc.Status` with an `ErrorInfo`, in the trailers of the call. */
import { Metadata, type status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { ErrorInfo } from '../model/status.ts';

/** The numbers of the fields are those of google/rpc/status.proto, any.proto and error_details.proto. */
const root = protobuf.Root.fromJSON({
  nested: {
    Any: { fields: { typeUrl: { type: 'string', id: 1 }, value: { type: 'bytes', id: 2 } } },
    Status: {
      fields: {
        code: { type: 'int32', id: 1 },
        message: { type: 'string', id: 2 },
        details: { rule: 'repeated', type: 'Any', id: 3 },
      },
    },
    ErrorInfo: {
      fields: {
        reason: { type: 'string', id: 1 },
        domain: { type: 'string', id: 2 },
        metadata: { keyType: 'string', type: 'string', id: 3 },
      } as Record<string, protobuf.IField>,
    },
  },
});

/** All members of the `ErrorInfo`. */
export const withDomain = (info: ErrorInfo) => ({ ...info, domain: 'pubsub.googleapis.com' });

export function trailersWith(code: status, message: string, info: ErrorInfo): Metadata {
  const value = encode('ErrorInfo', withDomain(info));
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value }];
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(encode('Status', { code, message, details })));
  return metadata;
}

function encode(type: string, value: object): Uint8Array {
  return root.lookupType(type).encode(value).finish();
}
