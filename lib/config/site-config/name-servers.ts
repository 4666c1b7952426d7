import { isRecord } from '../../base/json.ts';
import { readDocument } from '../file/document.ts';
import { interfacesOf } from '../site/nmstate/references.ts';
import { nmstateText } from '../site/nmstate/text.ts';

/** Name servers and search domains; undefined: those of the host stay, an empty list: it has none of its own. */
export interface NameServers {
  readonly servers?: readonly string[] | undefined;
  readonly search?: readonly string[] | undefined;
}

type Document = Record<string, unknown>;

/** An nmstate document, or none, with these; undefined if there is nothing to apply. */
export function withNameServers(
  document: Document | undefined,
  { servers, search }: NameServers,
): Document | undefined {
  if (servers === undefined && search === undefined) return document;
  const config = {
    ...(servers === undefined ? {} : { server: [...servers] }),
    ...(search === undefined ? {} : { search: [...search] }),
  };
  return { ...document, 'dns-resolver': { config } };
}

/**
 * What a host is to have of its network after `applied`, an nmstate document (YAML): that document, and if it names no
 * interface, what `before` says besides.
 */
export function networkAfter(before: string | undefined, applied: string): string {
  const [former, latter] = [before ?? '', applied].map((text) => readDocument(text).value);
  if (!isRecord(former) || !isRecord(latter) || interfacesOf(latter).length > 0) return applied;
  return nmstateText({ ...former, ...latter });
}
