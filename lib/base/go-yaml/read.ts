import { decodeNode } from './decode.ts';
import { GoYamlFault } from './fault.ts';
import { buildNodes, type YamlNode } from './nodes.ts';
import { lineAt, type Parsed, parseLeniently, parseText } from './parse.ts';
import { refuseForeign, refuseUnprintable } from './syntax.ts';

/** A document, or why it cannot be read. */
export type GoDocument =
  | { readonly line: number; readonly value: unknown }
  /** The line at fault. */
  | { readonly line: number; readonly fault: string };

/**
 * The documents of a text, as the clients of Kubernetes read them: sigs.k8s.io/yaml, thus go-yaml v2, for
 * each part between `---`. Values are what JSON can say; a number that JavaScript cannot hold is
 * JSON.rawJSON. An empty document is null; comments before the first `---` are none. What go-yaml would
 * lose without a word is a fault: a repeated key, and text after the end of a document.
 *
 * `line` is where the content of the document begins, from 1.
 */
export function readGoDocuments(text: string): GoDocument[] {
  return splitDocuments(text).flatMap(({ line, part }) =>
    readPart(part).map((document) => ({ ...document, line: document.line + line - 1 })),
  );
}

/**
 * The value of a text with one document, as Go reads it (see readGoDocuments); null if it is empty.
 *
 * @throws Error that names the line
 */
export function readGoYaml(text: string): unknown {
  const [document, another] = readGoDocuments(text);
  if (document === undefined) return null;
  if ('fault' in document) throw new Error(`line ${document.line}: ${document.fault}`);
  if (another !== undefined)
    throw new Error(`line ${another.line}: there is more than one document`);
  return document.value;
}

function readPart(text: string): GoDocument[] {
  let parsed: Parsed = { text, events: [] };
  try {
    // As kubectl and the kubelet do, which then know no more rules than those of JSON.
    const isJson = isJsonObject(text);
    parsed = isJson ? parseText(text) : parseYaml(text);
    const documents = buildNodes(parsed.text, parsed.events);
    if (!isJson) refuseForeign(parsed, documents);
    return documents.map((node) => readDocument(parsed.text, node));
  } catch (error) {
    return [faultOf(parsed.text, error)];
  }
}

function parseYaml(text: string): Parsed {
  refuseUnprintable(text);
  // go-yaml ends a line there.
  return parseLeniently(text.replaceAll('\u0085', '\n'));
}

function readDocument(text: string, node: YamlNode): GoDocument {
  try {
    return { line: lineAt(text, node.offset), value: decodeNode(node) };
  } catch (error) {
    return faultOf(text, error);
  }
}

function faultOf(text: string, error: unknown): GoDocument {
  if (!(error instanceof GoYamlFault)) throw error;
  // What is missing at the end is missing behind the last line.
  const offset = Math.min(error.offset, text.trimEnd().length);
  return { line: lineAt(text, offset), fault: error.message };
}

function isJsonObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Part {
  /** Of its first line, from 1. */
  readonly line: number;
  readonly part: string;
}

const SEPARATOR = /^---(?=[ \t\r\n]|$)/;
const COMMENTS = /^(?:\ufeff?[ \t]*(?:#.*)?(?:\r?\n|$))*$/;

/** Where files with a byte order mark were put together: Go reads each document by itself, and over its mark. */
const MARKED = /^(---[ \t]*\r?\n)\ufeff/gm;

/** Lines with `---` begin documents, but for the one that ends directives. */
function splitDocuments(text: string): Part[] {
  const parts: Part[] = [];
  let line = 1;
  let current: string[] = [];
  let begin = 1;
  const close = () => {
    const part = current.join('');
    if (parts.length > 0 || !COMMENTS.test(part)) parts.push({ line: begin, part });
    current = [];
    begin = line;
  };
  let isDirective = false;
  for (const each of text.replaceAll(MARKED, '$1').split(/(?<=\n)/)) {
    if (SEPARATOR.test(each) && !isDirective) close();
    isDirective = isDirective
      ? !SEPARATOR.test(each)
      : each.startsWith('%') && current.every((before) => COMMENTS.test(before));
    current.push(each);
    line++;
  }
  close();
  return parts;
}
