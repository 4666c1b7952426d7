/** What can be the name of a file on any server, and a part of an address. */
const NAME = /^[a-z0-9][a-z0-9.:_-]*$/;

/** The file that a node with this identifier asks its factory's URL for; undefined if it is none that can be asked for. */
export function askedName(identifier: string): string | undefined {
  // As part of a path, a colon needs no encoding; of a file name on some servers it does.
  return NAME.test(identifier) ? `${identifier.replaceAll(':', '-')}.site` : undefined;
}
