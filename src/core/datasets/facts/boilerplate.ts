import { kindsIf, type Fact } from './fact.ts';

/** Phrases about being an assistant, or at the end of an answer, that don't depend on the question. */
const BOILERPLATE =
  /\bas an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant)\b|\bas an (?:ai|artificial intelligence)(?:,| (?:chatbot|(?:created|developed|trained) by)\b)|\bas a (?:large )?language model\b|\bhope (?:this|that)(?: information| explanation)? helps\b|\bas of my (?:last|latest|most recent) (?:knowledge |training )?(?:update|cut-?off|data)\b|\bmy knowledge cut-?off\b|\bif you have any (?:other|more|further) questions, (?:please )?(?:feel free|don['’]t hesitate|let me know)\b|\bals (?:ki-|großes )?sprachmodell\b|\bals (?:ki|künstliche intelligenz) (?:habe|kann|bin)\b|\ben tant que modèle de langage\b|\ben tant qu['’](?:ia|intelligence artificielle)\b|\bcomo (?:un |um )?modelo de lingua(?:gem)?\b|\bcomo (?:un )?modelo de lenguaje\b|\bcome modello linguistico\b|言語モデルとして|AIとして|AI 언어 ?모델|作为(?:一个|一名)?(?:人工智能|AI|大型)?(?:语言模型|助手)|как языковая модель/i;
/** Only so many characters are searched at the beginning and at the end of an answer. */
const PART = 300;

export const boilerplate: Readonly<Fact> = {
  name: 'boilerplate',
  kindsOf: ({ answers }) => kindsIf({ boilerplate: answers.some((text) => BOILERPLATE.test(endsOf(text))) }),
};

function endsOf(text: string): string {
  return text.length <= 2 * PART ? text : `${text.slice(0, PART)}\n${text.slice(-PART)}`;
}
