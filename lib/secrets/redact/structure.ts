import { isRecord } from '../../base/json.ts';
import type { Budget } from '../bytes/budget.ts';
import { bareSecrets, bodyOf } from './data-urls.ts';
import type { Certainty, Marks } from './marks.ts';
import { isSecretValue } from './names.ts';
import { shallowJson } from './nesting.ts';
import { isNothing, isPath } from './values.ts';

/** Takes the secrets out of one text that stands in a document; returns the same text if there are none. */
export type TextRule = (text: string) => string;

type Fields = Readonly<Record<string, unknown>>;

/** Documents in documents, such as the annotation of `kubectl apply`; deeper ones are treated as text. */
const MAX_DEPTH = 6;

/**
 * Takes secrets out of a parsed document by what its fields mean: a Secret's data, a pull
 * secret's auths, what is in Ignition's files, environment variables and arguments by
 * their names. Texts that a document has to quote go through `text`. In the others, secrets that no name
 * reveals are found later, in the document as it is written. `name`: the field that the value is in. The value
 * itself is not changed; the same value is returned if there is nothing to hide.
 */
export function withoutSecrets(value: unknown, name: string, means: Means): unknown {
  return new Document(means).visit(value, name, 0);
}

/** The means to find the secrets of a document. */
export interface Means {
  readonly text: TextRule;
  readonly marks: Marks;
  /** For what is decoded. */
  readonly budget: Budget;
}

/** JSON and YAML write a text with one of these in another form than its own. */
const QUOTED = /[\p{Cc}"'\\<>&]/u;

/** A Secret; in a list of them, each may leave out what it is. */
const isSecretObject = ({ kind, type, metadata }: Fields) =>
  kind === 'Secret' || (kind === undefined && typeof type === 'string' && isRecord(metadata));

const isData = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('data:');

class Document {
  readonly #text: TextRule;
  readonly #marks: Marks;
  readonly #budget: Budget;

  constructor({ text, marks, budget }: Means) {
    this.#text = text;
    this.#marks = marks;
    this.#budget = budget;
  }

  visit(value: unknown, name: string, depth: number): unknown {
    // Of a kubeconfig's user, a registry, a request: strings only, a token's description is a mapping.
    if (typeof value === 'string' && name === 'token') return this.#mark(value);
    if (typeof value === 'string') return this.#string(value, name, depth);
    if (Array.isArray(value)) return this.#list(value, name, depth);
    if (!isRecord(value)) {
      return isSecretValue(name, String(value)) ? this.#marks.of(String(value)) : value;
    }
    return this.#namedValue(changed(value, (key, item) => this.#field(value, key, item, depth)));
  }

  #field(parent: Fields, key: string, item: unknown, depth: number): unknown {
    if (isSecretObject(parent) && (key === 'data' || key === 'stringData')) {
      return this.#hidden(item, key, key === 'data');
    }
    if (parent.kind === 'SecretList' && key === 'items' && Array.isArray(item)) {
      return item.map((secret) =>
        this.visit(isRecord(secret) ? { ...secret, kind: 'Secret' } : secret, key, depth),
      );
    }
    if (key === 'auths' && isRecord(item)) return this.#registries(item);
    if (key === 'contents' && isRecord(item) && typeof parent.path === 'string') {
      const name = parent.path.slice(parent.path.lastIndexOf('/') + 1);
      return changed(item, (each, value) =>
        each === 'source' && isData(value)
          ? this.#file(value, name, depth)
          : this.#field(item, each, value, depth),
      );
    }
    if (key === 'source' && isData(item)) return this.#file(item, key, depth);
    return this.visit(item, key, depth);
  }

  /** A file of an Ignition config: without its secrets if it is a text, else not at all. */
  #file(source: string, name: string, depth: number): string {
    const body = bodyOf(source, this.#budget);
    if (body === undefined || depth >= MAX_DEPTH) return this.#mark(source);
    let safe = body.text;
    for (const secret of bareSecrets(body.text, name)) {
      safe = safe.replaceAll(secret, this.#mark(secret));
    }
    safe = this.#text(this.#document(safe, name, depth) ?? safe);
    return safe === body.text ? source : body.with(safe);
  }

  /** A Secret's values, whatever they look like. `encoded`: in base64, marked as what it stands for. */
  #hidden(value: unknown, name: string, encoded: boolean): unknown {
    if (typeof value === 'string') {
      if (isNothing(value)) return value;
      const secret = encoded ? Buffer.from(value, 'base64').toString('utf8') : value;
      return this.#marks.of(secret, isSecretValue(name, secret) ? 'certain' : 'possible');
    }
    if (!isRecord(value)) return value;
    return changed(value, (key, item) => this.#hidden(item, key, encoded));
  }

  /** Of each registry, all but the e-mail address is a secret. */
  #registries(auths: Fields): unknown {
    return changed(auths, (_, entry) =>
      isRecord(entry)
        ? changed(entry, (key, item) =>
            typeof item === 'string' && key !== 'email'
              ? this.#mark(item, key === 'username' ? 'possible' : 'certain')
              : item,
          )
        : entry,
    );
  }

  /** `{name, value}` of an environment variable or a header. */
  #namedValue(fields: Fields): Fields {
    const { name, value } = fields;
    if (typeof name !== 'string' || typeof value !== 'string') return fields;
    return isSecretValue(name, value) ? { ...fields, value: this.#mark(value) } : fields;
  }

  /** An option's value can be the next entry of a list of arguments. */
  #list(items: readonly unknown[], name: string, depth: number): unknown {
    let isSame = true;
    const visited = items.map((item, index) => {
      const before = items[index - 1];
      const option = typeof before === 'string' ? /^--?([\w.-]+)$/.exec(before)?.[1] : undefined;
      const after = this.visit(item, option ?? name, depth);
      if (after !== item) isSame = false;
      return after;
    });
    return isSame ? items : visited;
  }

  #string(text: string, name: string, depth: number): string {
    if (isSecretValue(name, text)) return this.#mark(text);
    const document = this.#document(text, name, depth);
    if (document !== undefined) return document;
    return QUOTED.test(text) ? this.#text(text) : text;
  }

  /** A text that is a JSON document, without its secrets; undefined if it is not one. */
  #document(text: string, name: string, depth: number): string | undefined {
    if (depth >= MAX_DEPTH || !/^\s*[{[]/.test(text)) return undefined;
    const inner = shallowJson(text);
    if (inner === undefined) return undefined;
    const safe = this.visit(inner, name, depth + 1);
    return safe === inner ? text : JSON.stringify(safe);
  }

  #mark(secret: string, certainty: Certainty = 'certain'): string {
    return isNothing(secret) || isPath(secret) ? secret : this.#marks.of(secret, certainty);
  }
}

/** The mapping with each value as `visit` returns it; the same mapping if it returns all values as they are. */
function changed(fields: Fields, visit: (key: string, value: unknown) => unknown): Fields {
  let isSame = true;
  const entries = Object.entries(fields).map(([key, value]): [string, unknown] => {
    const after = visit(key, value);
    if (after !== value) isSame = false;
    return [key, after];
  });
  return isSame ? fields : Object.fromEntries(entries);
}
