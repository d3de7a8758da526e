/** The calls of `google.cloud.location.Locations`. */
import { invalid } from '../errors.ts';
import { requireLocation } from '../names.ts';

/** Regions of Cloud Tasks (docs.cloud.google.com/tasks/docs/locations). Here a queue can be in any other location too. */
const LOCATIONS = [
  'africa-south1',
  'asia-east1',
  'asia-east2',
  'asia-northeast1',
  'asia-northeast2',
  'asia-northeast3',
  'asia-south1',
  'asia-south2',
  'asia-southeast1',
  'asia-southeast2',
  'australia-southeast1',
  'australia-southeast2',
  'europe-central2',
  'europe-north1',
  'europe-southwest1',
  'europe-west1',
  'europe-west10',
  'europe-west12',
  'europe-west2',
  'europe-west3',
  'europe-west4',
  'europe-west6',
  'europe-west8',
  'europe-west9',
  'me-central1',
  'me-central2',
  'me-west1',
  'northamerica-northeast1',
  'northamerica-northeast2',
  'southamerica-east1',
  'southamerica-west1',
  'us-central1',
  'us-east1',
  'us-east4',
  'us-east5',
  'us-south1',
  'us-west1',
  'us-west2',
  'us-west3',
  'us-west4',
];
const PROJECT = /^projects\/[^/]+$/;

interface ListRequest {
  readonly name: string;
  readonly filter?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export const locationCalls = {
  GetLocation: ({ name }: { readonly name: string }) => locationOf(requireLocation(name)),

  /** A page token is the last id of the previous page. */
  ListLocations({ name, filter, pageSize = 0, pageToken }: ListRequest) {
    if (!PROJECT.test(name))
      throw invalid(`Invalid resource field value in the request: '${name}' must be "projects/PROJECT_ID".`);
    if (filter)
      throw invalid('ListLocationsRequest.filter is not served on this machine: read the whole list.');
    if (pageSize < 0) throw invalid('page_size must not be negative.');
    if (pageToken && !LOCATIONS.includes(pageToken)) throw invalid('page_token is invalid.');
    const rest = LOCATIONS.filter((id) => id > (pageToken ?? ''));
    const page = rest.slice(0, pageSize || LOCATIONS.length);
    return {
      locations: page.map((id) => locationOf(`${name}/locations/${id}`)),
      nextPageToken: page.length < rest.length ? page.at(-1) : '',
    };
  },
};

function locationOf(name: string): object {
  const locationId = name.slice(name.lastIndexOf('/') + 1);
  return { name, locationId, labels: { 'cloud.googleapis.com/region': locationId } };
}
