/**
 * One method of a service in a descriptor. `streams` names the sides that send more
 * than one message.
 */
export function rpcMethod(
  requestType: string,
  responseType: string,
  streams: { requestStream?: true; responseStream?: true } = {},
) {
  return { requestType, responseType, comment: '', ...streams };
}
