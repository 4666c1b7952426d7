import t from 'tap';
import { readGoDocuments } from '../../../lib/base/go-yaml/read.ts';
import { refusedHere, streamTexts, syntaxTexts } from './corpus.ts';
import { askGo, canonicalJson, type GoAnswer } from './program.ts';
import { scalarTexts } from './scalar-texts.ts';

/** `refused`, or the first document as JSON. */
function here(text: string): string {
  const [document = { value: null }] = readGoDocuments(text);
  return 'fault' in document ? 'refused' : canonicalJson(JSON.stringify(document.value));
}

function inGo({ json, error, documents, streamError }: GoAnswer, text: string): string {
  const [document] = documents;
  // kubectl knows JSON by its brace, and has a decoder of its own for it.
  const isJson = text.startsWith('{') && document !== undefined && streamError === undefined;
  if (isJson) return canonicalJson(document);
  return error !== undefined || json === undefined ? 'refused' : canonicalJson(json);
}

for (const [title, texts] of Object.entries({ scalarTexts, syntaxTexts })) {
  t.test(`${title} have the value that Go reads, or are refused as by Go`, async (t) => {
    const answers = await askGo('documents', texts);
    const different = answers.flatMap((answer, at) => {
      const text = texts[at] ?? '';
      const [go, own] = [inGo(answer, text), here(text)];
      return go === own ? [] : [{ text, go, own }];
    });
    t.equal(answers.length, texts.length);
    t.strictSame(different, []);
    const refused = answers.filter(({ error }) => error !== undefined).length;
    t.ok(refused > 20 && refused < texts.length / 2, `Go refuses ${refused} of ${texts.length}`);
  });
}

t.test('streams have the documents that kubectl reads', async (t) => {
  const answers = await askGo('documents', streamTexts);
  for (const [at, { documents, streamError }] of answers.entries()) {
    const text = streamTexts[at] ?? '';
    const own = readGoDocuments(text).map((document) =>
      'fault' in document ? document.fault : canonicalJson(JSON.stringify(document.value)),
    );
    t.equal(streamError, undefined, text);
    const read = documents.filter((json) => json !== '').map(canonicalJson);
    // An empty document is nothing to either: kubectl says null, or leaves it out.
    const isObject = (json: string) => json !== 'null';
    t.strictSame(own.filter(isObject), read.filter(isObject), JSON.stringify(text));
  }
});

for (const [why, texts] of Object.entries(refusedHere)) {
  t.test(`refused, though Go is silent: ${why}`, async (t) => {
    for (const [at, { error, json }] of (await askGo('documents', texts)).entries()) {
      const text = texts[at] ?? '';
      t.equal(error, undefined, `Go reads ${JSON.stringify(text)} as ${json}`);
      t.match(readGoDocuments(text), [{ fault: String }], `document ${at}`);
    }
  });
}
