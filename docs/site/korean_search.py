"""Search in Korean: 어텐션을, 어텐션은 and 어텐션 are one word, for the index and for what is typed.

Sphinx has no Korean of its own. What follows a noun is taken off its end, the same way in Python and in the page.
"""

import re

from sphinx.search import SearchLanguage

ENDINGS = (
    "에서는|에서도|으로는|으로도|입니다|합니다|됩니다|습니다|이라는|까지의|에서의|에게서|하면|하는|하고|이며|이고|이나|이란|라는|처럼|보다|마다|"
    "부터|까지|에서|에게|으로|만큼|들은|들이|들을|들의|은|는|이|가|을|를|의|에|도|만|와|과|로|나|며|고"
)
END = re.compile(f"(?<=[가-힣A-Za-z_]{{2}})(?:{ENDINGS})$")
HANGUL = re.compile("[가-힣]$")

STEMMER = """
const KOREAN_END = /(?<=[가-힣A-Za-z_]{2})(?:ENDINGS)$/;
var Stemmer = function () {
  this.stemWord = (word) => (/[가-힣]$/.test(word) ? word.replace(KOREAN_END, "") : word);
};
""".replace("ENDINGS", ENDINGS)


class SearchKorean(SearchLanguage):
    """Words at spaces, without what follows a noun."""

    lang = "ko"
    language_name = "Korean"
    js_stemmer_code = STEMMER

    def stem(self, word):
        """A word without its ending."""
        return END.sub("", word) if HANGUL.search(word) else word

    def word_filter(self, word):
        """One letter finds everything, so it finds nothing."""
        return len(word) > 1 and not word.isdigit()


def setup(app):
    """Sphinx calls this."""
    app.add_search_language(SearchKorean)
    return {"parallel_read_safe": True}
