import { armor, type Encrypter } from 'age-encryption';
import { type FailureData, failureSentence } from '../../base/errors/failure-data.ts';
import { printableOnConsole } from '../../engine/console/wording.ts';
import type { Overwritten } from '../../host/media/in-place/overwrite.ts';

/**
 * Files of a volume that its manifest does not list: room for what the node tells, which it writes where they lie. Nobody
 * reads them but people.
 */
export const RESULT_FILES = {
  /** PASS or FAIL, with one instruction. */
  text: 'sno-result.txt',
  /** The same, green or red, for a phone. */
  page: 'sno-result.html',
  /** The certificate for the request of the volume; the key is on the laptop. */
  kubeconfig: 'sno-kubeconfig.yaml',
} as const;

type ResultFile = (typeof RESULT_FILES)[keyof typeof RESULT_FILES];

/** Of each of them; the rest of a shorter text is empty lines. */
export const ROOM_BYTES = 8 << 10;

/** The first line: without it, nothing is overwritten. */
const MARKS: Readonly<Record<ResultFile, string>> = {
  [RESULT_FILES.text]: 'The node writes here how it went.\n',
  [RESULT_FILES.page]: '<!doctype html><!-- The node writes here how it went. -->\n',
  [RESULT_FILES.kubeconfig]: '# The node writes here what belongs to the request of this volume.\n',
};

const EMPTY: Readonly<Record<ResultFile, string>> = {
  [RESULT_FILES.text]: 'No node has used the volume yet.\n',
  [RESULT_FILES.page]: '<title>Not used yet</title><p>No node has used the volume yet.</p>\n',
  [RESULT_FILES.kubeconfig]: '# No node has used it yet.\n',
};

/** The room that `sno create site-volume` leaves on a volume, with a request or without. */
export function emptyResults(hasRequest: boolean): ReadonlyMap<string, Uint8Array> {
  const { text, page, kubeconfig } = RESULT_FILES;
  const names = hasRequest ? [text, page, kubeconfig] : [text, page];
  return new Map(names.map((name) => [name, resultFile(name, EMPTY[name]).contents]));
}

/** A file with a text, exactly as large as the room for it: what is too long is cut off. */
export function resultFile(name: ResultFile, text: string): Overwritten {
  const mark = MARKS[name];
  const contents = Buffer.alloc(ROOM_BYTES, '\n');
  contents.write(mark + text);
  contents[ROOM_BYTES - 1] = '\n'.charCodeAt(0);
  return { name, mark, contents };
}

/** How it went on one node. */
export interface Told {
  /** NAME.DOMAIN of the site, which is the name that its people know. Undefined where the volume must not name it. */
  readonly cluster: string | undefined;
  /** As the cluster knows the node. */
  readonly node: string;
  readonly serial: number | undefined;
  readonly version: string;
  /** Undefined: the volume was refused. */
  readonly endedAt: string | undefined;
  /** Undefined: PASS. */
  readonly failure: FailureData | undefined;
}

/** In plain words: PASS, or FAIL with one instruction and a code. */
export function resultText(told: Told): string {
  return `\n${[...verdictLines(told.failure), '', ...factLines(told)].map(printableOnConsole).join('\n')}\n`;
}

const DETAILS = '\nDetails, for the one who made the volume (auth/result.agekey):\n';

/**
 * The text of an encrypted volume with `details` for the one who made it (https://age-encryption.org/v1). No two encryptions of
 * a text are alike: `present`, what the medium has, stays if it says the same.
 */
export async function resultWithDetails(
  { text, details, encrypter }: { text: string; details: string; encrypter: Encrypter },
  present: Buffer | undefined,
): Promise<Overwritten> {
  const name = RESULT_FILES.text;
  const said = present?.toString('utf8') ?? '';
  if (present !== undefined && said.startsWith(`${MARKS[name]}${text}${DETAILS}`)) {
    return { name, mark: MARKS[name], contents: present };
  }
  const sealed = armor.encode(await encrypter.encrypt(details));
  return resultFile(name, `${text}${DETAILS}${sealed}`);
}

const factLines = ({ cluster, node, serial, version, endedAt }: Told): string[] => [
  ...(cluster === undefined ? [] : [`Cluster: ${cluster}`]),
  `Node: ${node}`,
  ...(serial === undefined ? [] : [`Serial of the volume: ${serial}`]),
  ...(endedAt === undefined ? [] : [`Time: ${endedAt}`]),
  `Software: sno-agents ${version}`,
];

const COLOURS = { PASS: '#0b6b2e', FAIL: '#b3141b' } as const;

/** The same as a page that says it by its colour from a distance, and needs nothing but the file. */
export function resultPage(told: Told): string {
  const verdict = told.failure === undefined ? 'PASS' : 'FAIL';
  const [first, ...others] = verdictLines(told.failure);
  const paragraph = (line: string) => `<p>${escaped(printableOnConsole(line))}</p>`;
  return [
    '<html lang="en"><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${verdict}</title>`,
    `<body style="margin:1.5em;font:1.2em sans-serif;overflow-wrap:anywhere;color:#fff;background:${COLOURS[verdict]}">`,
    `<h1 style="font-size:3em;margin:0">${verdict}</h1>`,
    paragraph(first.replace(/^(PASS|FAIL): /, '')),
    ...others.map(paragraph),
    '<hr>',
    ...factLines(told).map(paragraph),
    '</body></html>\n',
  ].join('\n');
}

/** Names and messages of the node stay text. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The verdict, and what belongs to it. */
function verdictLines(failure: FailureData | undefined): [verdict: string, ...string[]] {
  if (failure === undefined) {
    return ['PASS: the node has the configuration of its site. Nothing is left to do.'];
  }
  const { fix, ...said } = failure;
  return [
    `FAIL: ${failureSentence(said)}`,
    `What to do: ${fix ?? 'Call support with this text.'}`,
    codeLine(failure),
  ];
}

/** By what programs know the reason. */
export const codeLine = ({ code }: Pick<FailureData, 'code'>): string => `Code: ${code}`;
