import { GoYamlFault } from './fault.ts';
import { float32Key } from './float-key.ts';
import type { AliasNode, MappingNode, ScalarNode, YamlNode } from './nodes.ts';
import { rawJson } from './raw-json.ts';
import { type GoScalar, resolveScalar, TAG_PREFIX } from './scalar.ts';

/**
 * The value of a document: what the JSON says that sigs.k8s.io/yaml makes of it. Numbers that JavaScript
 * cannot hold are JSON.rawJSON.
 *
 * @throws GoYamlFault for what go-yaml refuses, and for a repeated key, of which it keeps one without a word
 */
export function decodeNode(root: YamlNode): unknown {
  return new Decoder().decode(root);
}

/** How much of what is decoded may come from aliases (go-yaml v2, decode.go). */
function allowedAliasRatio(decoded: number): number {
  const [low, high] = [400_000, 4_000_000];
  if (decoded <= low) return 0.99;
  return decoded >= high ? 0.1 : 0.99 - 0.89 * ((decoded - low) / (high - low));
}

/** The text that aliases may repeat, in characters: several times what the API accepts as an object. */
const MAX_REPEATED_TEXT = 16 * 1024 * 1024;

interface Entry {
  /** Tells keys of different types apart, which are one key in JSON. */
  readonly goKey: string;
  readonly value: unknown;
}

class Decoder {
  /** The document counts. */
  #decoded = 1;
  #fromAliases = 0;
  #repeatedText = 0;
  readonly #followed = new Set<AliasNode>();

  decode(node: YamlNode): unknown {
    this.#count(node);
    switch (node.kind) {
      case 'alias':
        return this.#follow(node, (target) => this.decode(target));
      case 'scalar':
        return this.#jsonValue(node);
      case 'sequence':
        return node.items.map((item) => this.decode(item));
      case 'mapping': {
        const entries = new Map<string, Entry>();
        this.#addPairs(node, entries);
        return Object.fromEntries([...entries].map(([key, { value }]) => [key, value]));
      }
    }
  }

  #count(node: YamlNode): void {
    this.#decoded++;
    if (this.#followed.size > 0) {
      this.#fromAliases++;
      if (node.kind === 'scalar') this.#repeatedText += node.text.length;
    }
    const ratio = this.#fromAliases / this.#decoded;
    const isExcessive =
      this.#fromAliases > 100 && this.#decoded > 1000 && ratio > allowedAliasRatio(this.#decoded);
    if (isExcessive || this.#repeatedText > MAX_REPEATED_TEXT) {
      throw new GoYamlFault('its aliases repeat too much', node.offset);
    }
  }

  #follow<T>(alias: AliasNode, then: (target: AliasNode['target']) => T): T {
    if (this.#followed.has(alias)) {
      throw new GoYamlFault(`the anchor &${alias.name} contains itself`, alias.offset);
    }
    this.#followed.add(alias);
    const result = then(alias.target);
    this.#followed.delete(alias);
    return result;
  }

  /** Each `<<` is merged where it is written: what follows it wins, what precedes it does not. */
  #addPairs({ pairs }: MappingNode, entries: Map<string, Entry>): void {
    const own = new Set<string>();
    for (const [key, value] of pairs) {
      if (isMerge(key)) this.#merge(value, entries);
      else {
        const { jsonKey, goKey } = this.#key(key);
        if (own.has(jsonKey)) throw new GoYamlFault('Map keys must be unique', key.offset);
        own.add(jsonKey);
        const before = entries.get(jsonKey);
        if (before !== undefined && before.goKey !== goKey) {
          throw new GoYamlFault('Map keys must be unique', key.offset);
        }
        entries.set(jsonKey, { goKey, value: this.decode(value) });
      }
    }
  }

  #merge(node: YamlNode, entries: Map<string, Entry>): void {
    // Of a list, earlier ones win.
    const sources = node.kind === 'sequence' ? node.items.toReversed() : [node];
    for (const source of sources) this.#mergeMapping(source, entries);
  }

  #mergeMapping(node: YamlNode, entries: Map<string, Entry>): void {
    this.#count(node);
    if (node.kind === 'mapping') this.#addPairs(node, entries);
    else if (node.kind === 'alias' && node.target.kind === 'mapping') {
      this.#follow(node, (target) => this.#mergeMapping(target, entries));
    } else throw new GoYamlFault('<< needs a map or a list of maps', node.offset);
  }

  #key(node: YamlNode): { jsonKey: string; goKey: string } {
    this.#count(node);
    if (node.kind === 'alias') return this.#follow(node, (target) => this.#key(target));
    if (node.kind !== 'scalar') throw new GoYamlFault('a map or list is no key', node.offset);
    const scalar = scalarOf(node);
    const jsonKey = keyText(scalar);
    if (jsonKey === undefined) throw new GoYamlFault('JSON has no such key', node.offset);
    return { jsonKey, goKey: `${scalar.kind} ${jsonKey}` };
  }

  #jsonValue(node: ScalarNode): unknown {
    const scalar = scalarOf(node);
    switch (scalar.kind) {
      case 'null':
        return null;
      case 'bool':
      case 'string':
        return scalar.value;
      case 'int': {
        const number = Number(scalar.value);
        return Number.isSafeInteger(number) ? number : rawJson(`${scalar.value}`);
      }
      case 'float':
        if (!Number.isFinite(scalar.value)) {
          throw new GoYamlFault('JSON has no such number', node.offset);
        }
        return Object.is(scalar.value, -0) ? rawJson('-0') : scalar.value;
    }
  }
}

function scalarOf({ tag, style, text, offset }: ScalarNode): GoScalar {
  if (tag === undefined && style !== 'plain') return { kind: 'string', value: text };
  try {
    return resolveScalar(tag, text);
  } catch (error) {
    throw new GoYamlFault(error instanceof Error ? error.message : 'bad scalar', offset);
  }
}

function isMerge(key: YamlNode): boolean {
  if (key.kind !== 'scalar' || key.text !== '<<') return false;
  return (
    (key.style === 'plain' && key.tag === undefined) ||
    key.tag === '!' ||
    key.tag === `${TAG_PREFIX}merge`
  );
}

/** As sigs.k8s.io/yaml makes keys of scalars; undefined for null and what exceeds int64. */
function keyText(scalar: GoScalar): string | undefined {
  switch (scalar.kind) {
    case 'null':
      return undefined;
    case 'string':
      return scalar.value;
    case 'bool':
      return String(scalar.value);
    case 'int':
      return scalar.value > 0x7fff_ffff_ffff_ffffn ? undefined : String(scalar.value);
    case 'float':
      return float32Key(scalar.value);
  }
}
