// SPDX-License-Identifier: Apache-2.0
// Ids of tokens: of whole words, one a line of a vocabulary, or of WordPiece, as BERT and its children have it.

const kWordPiece = ['[UNK]', '[CLS]', '[SEP]'];

export class Tokens {
  #ids;

  constructor(vocabulary) {
    this.words = vocabulary.split('\n').map((line) => line.trimEnd());
    if (this.words.at(-1) === '') this.words.pop();
    this.#ids = new Map(this.words.map((word, i) => [word, i]));
    this.isWordPiece = kWordPiece.every((word) => this.#ids.has(word));
  }

  // {ids, unknown}: the ids of a sentence, and its words that the vocabulary lacks.
  of(sentence) {
    const plain = sentence.toLowerCase().normalize('NFD').replace(/\p{Mn}/gu, '');
    const words = plain.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [], ids = [], unknown = [];
    for (const word of words) {
      const pieces = this.isWordPiece ? this.#pieces(word) : this.#ids.has(word) ? [this.#ids.get(word)] : null;
      if (pieces !== null) ids.push(...pieces);
      else if (/\p{L}|\p{N}/u.test(word)) unknown.push(word);
      if (pieces === null && this.isWordPiece) ids.push(this.#ids.get('[UNK]'));
    }
    if (this.isWordPiece) return { ids: [this.#ids.get('[CLS]'), ...ids, this.#ids.get('[SEP]')], unknown };
    return { ids, unknown };
  }

  // The longest pieces from the left on; null where none fits.
  #pieces(word) {
    const ids = [];
    for (let begin = 0; begin < word.length;) {
      let end = word.length, id;
      for (; end > begin; --end) {
        id = this.#ids.get((begin > 0 ? '##' : '') + word.slice(begin, end));
        if (id !== undefined) break;
      }
      if (id === undefined) return null;
      ids.push(id);
      begin = end;
    }
    return ids;
  }
}
