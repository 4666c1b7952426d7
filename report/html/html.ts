/** Markup that is safe to insert as it is. `html` creates it and escapes everything else. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }

  /** For markup of this program, such as its style sheet; never for input. */
  static trusted(markup: string): Html {
    return new Html(markup);
  }

  static of(strings: TemplateStringsArray, values: readonly HtmlValue[]): Html {
    const rest = values.map((value, index) => `${markup(value)}${strings[index + 1] ?? ''}`);
    return new Html(`${strings[0] ?? ''}${rest.join('')}`);
  }
}

export type HtmlValue = string | number | Html | undefined | readonly Html[];

/** A template that escapes its values for text and for double-quoted attributes. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  Html.of(strings, values);

function markup(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.toString();
  return typeof value === 'object' ? value.map(markup).join('') : escapeText(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string) => text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? '');
