/** Protocol description of `google.cloud.location.Locations`, which the client's package lacks. */

const LOCATION = {
  fields: {
    name: { type: 'string', id: 1 },
    locationId: { type: 'string', id: 4 },
    displayName: { type: 'string', id: 5 },
    labels: { keyType: 'string', type: 'string', id: 2 },
  },
};

const LIST_REQUEST = {
  fields: {
    name: { type: 'string', id: 1 },
    filter: { type: 'string', id: 2 },
    pageSize: { type: 'int32', id: 3 },
    pageToken: { type: 'string', id: 4 },
  },
};

const LIST_RESPONSE = {
  fields: {
    locations: { rule: 'repeated', type: 'Location', id: 1 },
    nextPageToken: { type: 'string', id: 2 },
  },
};

const bound = (get: string) => ({ '(google.api.http)': { get } });

/** @param version prefix of its REST paths, e.g. `v2` */
export function locationsProtocol(version: string) {
  const Locations = {
    methods: {
      ListLocations: {
        requestType: 'ListLocationsRequest',
        responseType: 'ListLocationsResponse',
        parsedOptions: [bound(`/${version}/{name=projects/*}/locations`)],
      },
      GetLocation: {
        requestType: 'GetLocationRequest',
        responseType: 'Location',
        parsedOptions: [bound(`/${version}/{name=projects/*/locations/*}`)],
      },
    },
  };
  const nested = {
    Location: LOCATION,
    ListLocationsRequest: LIST_REQUEST,
    ListLocationsResponse: LIST_RESPONSE,
    GetLocationRequest: { fields: { name: { type: 'string', id: 1 } } },
    Locations,
  };
  return { nested: { google: { nested: { cloud: { nested: { location: { nested } } } } } } };
}
