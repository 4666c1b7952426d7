import {
  COLLECTION_STYLE,
  type DocumentDirective,
  EVENT_ID,
  type Event,
  getScalarValue,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { GoYamlFault } from './fault.ts';
import { TAG_PREFIX } from './scalar.ts';

interface Place {
  /** Where in the text the node begins. */
  readonly offset: number;
}

export interface ScalarNode extends Place {
  readonly kind: 'scalar';
  /** In full; undefined if the text has none. */
  readonly tag: string | undefined;
  /** The value of a plain scalar decides about its type. */
  readonly style: 'plain' | 'quoted' | 'block';
  readonly text: string;
  /** Where in the text the value ends, with its quote. */
  readonly end: number;
}

export interface MappingNode extends Place {
  readonly kind: 'mapping';
  readonly isFlow: boolean;
  /** Where its first pair or its bracket begins, behind its anchor and tag. */
  readonly start: number;
  readonly pairs: [key: YamlNode, value: YamlNode][];
}

export interface SequenceNode extends Place {
  readonly kind: 'sequence';
  readonly isFlow: boolean;
  readonly items: YamlNode[];
}

export interface AliasNode extends Place {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: Anchored;
}

type Anchored = ScalarNode | MappingNode | SequenceNode;
export type YamlNode = Anchored | AliasNode;

/**
 * The documents of a text as trees. Tags of collections mean nothing to go-yaml and are left out.
 *
 * @param events of that text
 * @throws GoYamlFault for an alias without anchor
 */
export function buildNodes(text: string, events: readonly Event[]): YamlNode[] {
  const builder = new NodeBuilder(text);
  for (const event of events) builder.take(event);
  return builder.documents;
}

/** A collection that is being read; a mapping's key waits for its value. */
type Open =
  | { readonly node: SequenceNode }
  | { readonly node: MappingNode; key: YamlNode | undefined };

class NodeBuilder {
  readonly documents: YamlNode[] = [];
  readonly #text: string;
  readonly #open: Open[] = [];
  #anchors = new Map<string, Anchored>();
  #directives: readonly DocumentDirective[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        this.#anchors = new Map();
        this.#directives = event.directives;
        break;
      case EVENT_ID.SCALAR:
        this.#add(this.#anchored(event, this.#scalar(event)));
        break;
      case EVENT_ID.SEQUENCE: {
        const node: SequenceNode = { kind: 'sequence', ...placeOf(event), items: [] };
        this.#open.push({ node: this.#anchored(event, node) });
        break;
      }
      case EVENT_ID.MAPPING: {
        const node: MappingNode = {
          kind: 'mapping',
          ...placeOf(event),
          start: event.start,
          pairs: [],
        };
        this.#open.push({ node: this.#anchored(event, node), key: undefined });
        break;
      }
      case EVENT_ID.ALIAS:
        this.#add(this.#alias(event.anchorStart, event.anchorEnd));
        break;
      case EVENT_ID.POP: {
        const closed = this.#open.pop();
        // The end of a document closes no collection.
        if (closed !== undefined) this.#add(closed.node);
      }
    }
  }

  #add(node: YamlNode): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.documents.push(node);
    else if (!('key' in parent)) parent.node.items.push(node);
    else if (parent.key === undefined) parent.key = node;
    else {
      parent.node.pairs.push([parent.key, node]);
      parent.key = undefined;
    }
  }

  #anchored<T extends Anchored>(event: Anchor, node: T): T {
    if (event.anchorStart >= 0) {
      this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), node);
    }
    return node;
  }

  #alias(start: number, end: number): AliasNode {
    const name = this.#text.slice(start, end);
    const target = this.#anchors.get(name);
    if (target === undefined) throw new GoYamlFault(`unknown alias *${name}`, start);
    return { kind: 'alias', name, target, offset: start - 1 };
  }

  #scalar(event: ScalarEvent): ScalarNode {
    const { tagStart, tagEnd, anchorEnd, valueEnd, style } = event;
    const ownStyle = styleOf(style);
    const quote = Number(ownStyle === 'quoted');
    return {
      kind: 'scalar',
      tag: tagStart < 0 ? undefined : this.#fullTag(this.#text.slice(tagStart, tagEnd)),
      style: ownStyle,
      text: this.#scalarText(event),
      offset: offsetOf(event, event.valueStart - quote),
      end: Math.max(tagEnd, anchorEnd, valueEnd + quote),
    };
  }

  /** In a block scalar that ends with the text, go-yaml adds no line break to the last line. */
  #scalarText(event: ScalarEvent): string {
    const text = getScalarValue(this.#text, event);
    const isCut =
      styleOf(event.style) === 'block' && !/[\r\n]/.test(this.#text[event.valueEnd - 1] ?? '\n');
    return isCut && text.endsWith('\n') ? text.slice(0, -1) : text;
  }

  #fullTag(written: string): string {
    if (written.startsWith('!<')) return unescaped(written.slice(2, -1));
    const handle = /^!(?:[^!]*!)?/.exec(written)?.[0] ?? '!';
    const declared = this.#directives.find((each) => each.kind === 'tag' && each.handle === handle);
    const known = handle === '!!' ? TAG_PREFIX : handle;
    const prefix = declared?.kind === 'tag' ? declared.prefix : known;
    return unescaped(prefix + written.slice(handle.length));
  }
}

function styleOf(style: ScalarEvent['style']): ScalarNode['style'] {
  if (style === SCALAR_STYLE.PLAIN) return 'plain';
  const isBlock = style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
  return isBlock ? 'block' : 'quoted';
}

interface Anchor {
  readonly anchorStart: number;
  readonly anchorEnd: number;
}

interface Collection extends Anchor {
  readonly start: number;
  readonly tagStart: number;
  readonly style: number;
}

function placeOf(event: Collection): { offset: number; isFlow: boolean } {
  const isFlow = event.style === COLLECTION_STYLE.FLOW;
  return { offset: offsetOf(event, event.start), isFlow };
}

/** Of what is written first: the tag, the anchor or the value; 0 for a node that is not written. */
function offsetOf(
  { tagStart, anchorStart }: { tagStart: number; anchorStart: number },
  valueStart: number,
): number {
  const written = [tagStart, anchorStart - 1, valueStart].filter((at) => at >= 0);
  return written.length === 0 ? 0 : Math.min(...written);
}

function unescaped(tag: string): string {
  try {
    return decodeURIComponent(tag);
  } catch {
    return tag;
  }
}
