"""Weather codes in words (WMO table 4677, the part that Open-Meteo uses), in English and Chinese."""

_WORDS = {
    0: ("clear sky", "晴"), 1: ("mainly clear", "大部晴朗"), 2: ("partly cloudy", "局部多云"), 3: ("overcast", "阴"),
    45: ("fog", "雾"), 48: ("fog with rime", "雾凇"),
    51: ("light drizzle", "小毛毛雨"), 53: ("drizzle", "毛毛雨"), 55: ("dense drizzle", "大毛毛雨"),
    56: ("light freezing drizzle", "小冻毛毛雨"), 57: ("dense freezing drizzle", "大冻毛毛雨"),
    61: ("light rain", "小雨"), 63: ("rain", "中雨"), 65: ("heavy rain", "大雨"),
    66: ("light freezing rain", "小冻雨"), 67: ("heavy freezing rain", "大冻雨"),
    71: ("light snow", "小雪"), 73: ("snow", "中雪"), 75: ("heavy snow", "大雪"), 77: ("snow grains", "米雪"),
    80: ("light rain showers", "小阵雨"), 81: ("rain showers", "阵雨"), 82: ("violent rain showers", "强阵雨"),
    85: ("light snow showers", "小阵雪"), 86: ("heavy snow showers", "大阵雪"),
    95: ("thunderstorm", "雷暴"), 96: ("thunderstorm with light hail", "雷暴伴小冰雹"),
    99: ("thunderstorm with heavy hail", "雷暴伴大冰雹"),
}  # fmt: skip


def in_words(code: int, language: str) -> str:
    """What a code means, in Chinese for "zh"; one that is not in the table says so."""
    english, chinese = _WORDS.get(code, (f"weather code {code}", f"天气代码 {code}"))
    return chinese if language == "zh" else english
