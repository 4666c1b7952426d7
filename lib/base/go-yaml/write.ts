import {
  DEFAULT_SCALAR_STYLE_RULES,
  defineScalarTag,
  dump,
  floatCoreTag,
  floatYaml11Tag,
  intCoreTag,
  intYaml11Tag,
  mapTag,
  NOT_RESOLVED,
  SCALAR_STYLE,
  type ScalarLayout,
  Schema,
  seqTag,
  strTag,
  timestampTag,
} from 'js-yaml';
import { isRawJson } from './raw-json.ts';
import { type GoScalar, resolveScalar, TAG_PREFIX } from './scalar.ts';

/**
 * YAML of JSON data that Go reads as that data again (lib/base/go-yaml/read.ts): kubectl, kubelet and the
 * programs of the control plane. Members that are undefined are left out. No text is folded.
 *
 * @throws YAMLException for what JSON cannot say, such as a function
 */
export function writeGoYaml(data: unknown): string {
  return dump(data, {
    schema,
    lineWidth: -1,
    noRefs: true,
    scalarStyleRules: [quoteWhatIsMisread, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)],
  });
}

/** Several documents in one text, as `writeGoYaml` writes each. */
export function writeGoDocuments(documents: readonly unknown[]): string {
  return documents.map(writeGoYaml).join('---\n');
}

/** A type of scalars: texts that Go reads as one are quoted where they are to be strings. */
function goTag(
  kind: GoScalar['kind'],
  identify: (value: unknown) => boolean,
  represent: (value: unknown) => string = String,
) {
  return defineScalarTag<unknown>(TAG_PREFIX + kind, {
    implicit: true,
    resolve: (text) => (resolveScalar(undefined, text).kind === kind ? text : NOT_RESOLVED),
    identify,
    represent,
  });
}

function numberTag(kind: 'int' | 'float') {
  const isOfKind = (value: unknown) =>
    isNumber(value) && resolveScalar(undefined, numberText(value)).kind === kind;
  return goTag(kind, isOfKind, numberText);
}

const isNumber = (value: unknown) =>
  isRawJson(value) || (typeof value === 'number' && Number.isFinite(value));

function numberText(value: unknown): string {
  const text = Object.is(value, -0) ? '-0' : JSON.stringify(value);
  // Only a float has a sign at zero.
  return text === '-0' ? '-0.0' : text;
}

const schema = new Schema([
  strTag,
  seqTag,
  mapTag,
  goTag('null', (value) => value === null),
  goTag('bool', (value) => typeof value === 'boolean'),
  numberTag('int'),
  numberTag('float'),
]);

/** A number to every version of YAML, which Go takes for text if it is too large: others read infinity. */
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)e[-+]?\d+$/i;

const otherTags = [intYaml11Tag, floatYaml11Tag, intCoreTag, floatCoreTag, timestampTag];

/** Strings that look like something else to Go's parser, or to a reader of another version of YAML. */
function quoteWhatIsMisread(layout: ScalarLayout): void {
  const { tag, value } = layout.node;
  if (tag !== strTag.tagName) return;
  const isOther = otherTags.some(
    (each) => each.resolve(value, false, each.tagName) !== NOT_RESOLVED,
  );
  if (isOther || FLOAT.test(value) || value === '<<') layout.style = SCALAR_STYLE.SINGLE_QUOTED;
  // A document mark, or a text block of which the first line does not tell the indentation.
  if (/^(?:(?:---|\.\.\.)(?:\s|$)|\n* )/.test(value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
}
